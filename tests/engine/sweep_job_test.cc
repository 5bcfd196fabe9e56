// How a sweep goes: what is compiled, run, in which rounds, and within its budget.
#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "tests/engine/sweep_bench.h"

using namespace assay;
using namespace assay::sweep_bench;

TEST_CASE("variants are ranked by time, those that fail last, with their reason") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}, {"d", 60'000}},
                  .failures = {{"c", "wrong_output"}, {"e", "compile_failed"}}};
  Told told;
  job::Verdict verdict{};
  const json body = swept(judge, request_of({"a", "b", "c", "d", "e"}), told, &verdict);
  CHECK(verdict == job::Verdict::passed);
  CHECK(names_of(body) == std::vector<std::string>{"b", "d", "a", "c", "e"});
  CHECK(body.at("best").at("name") == "b");
  CHECK(body.at("table")[3].at("verdict") == "wrong_output");
  CHECK(body.at("table")[4].at("summary") == "it failed: e");
  CHECK(body.at("table")[1].at("relative") == 2.0);
  CHECK(told.stages.front().at("stage") == "compiled");
  CHECK(told.stages.front().at("compiled") == 4);
  CHECK(told.stages.back().at("stage") == "concluded");
}

TEST_CASE("what does not compile is never run") {
  FakeJudge judge{.failures = {{"a", "compile_failed"}}};
  Told told;
  job::Verdict verdict{};
  (void)swept(judge, request_of({"a"}), told, &verdict);
  CHECK(verdict == job::Verdict::compile_failed);
  CHECK(judge.asked.size() == 1);
}

TEST_CASE("only the better half goes on, and with more runs") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 100'000.0 + 20'000 * i;
  }
  Told told;
  const json body = swept(judge, request_of(names, 160), told);
  std::map<std::string, std::vector<int>> trials;
  for (const auto& one : judge.asked) {
    if (one.at("options").at("until") == "timed") {
      trials[one.at("kernel").at("name")].push_back(one.at("options").at("num_trials"));
    }
  }
  CHECK(trials["v15"] == std::vector{10});
  CHECK(trials["v7"] == std::vector{10, 40});
  CHECK(trials["v0"] == std::vector{10, 40, 160});
  CHECK(body.at("table")[0].at("runs") == 160);
}

TEST_CASE("what could not be asked in a later round lowers what the first one said") {
  FakeJudge judge{.times_ns = {{"a", 10'000}, {"b", 11'000}}, .doubtful = {"a"}};
  Told told;
  const json body = swept(judge, request_of({"a", "b"}), told);
  CHECK(body.at("best").at("name") == "a");
  CHECK(body.at("best").at("trust") == "audited");
  CHECK(body.at("table")[1].at("trust") == "verified");
}

TEST_CASE("a failure of ours while variants compile is the sweep's, and ends nothing else") {
  Told told;
  SweepJob sweep(request_of({"a", "b", "c", "d", "e", "f", "g", "h"}),
                 [](const json&, const std::stop_token&) -> Conclusion {
                   throw std::system_error(std::make_error_code(std::errc::too_many_files_open));
                 },
                 told, {});
  CHECK_THROWS_AS(sweep.run(), std::system_error);
}

TEST_CASE("all variants run on the GPU that the first one was given") {
  FakeJudge judge{.times_ns = {{"a", 50'000}, {"b", 51'000}, {"c", 90'000}}, .device = "gpu:3"};
  Told told;
  (void)swept(judge, request_of({"a", "b", "c"}), told);
  std::size_t timed = 0;
  for (const auto& one : judge.asked) {
    if (one.at("options").at("until") != "timed") continue;
    // The first may have any.
    CHECK(one.at("options").value("device", "none") == (timed == 0 ? "none" : "gpu:3"));
    ++timed;
  }
  CHECK(timed > 3);
}

TEST_CASE("the reference judges each variant in each round") {
  FakeJudge judge{.times_ns = {{"a", 50'000}, {"b", 60'000}}, .later = {{"a", {"wrong_output"}}}};
  json request = request_of({"a", "b"}, 100);
  request["ref_kernel"] = {{"name", "reference"}};
  Told told;
  const json body = swept(judge, request, told);
  for (const auto& one : judge.asked) {
    const bool is_timed = one.at("options").at("until") == "timed";
    CHECK(one.contains("ref_kernel") == is_timed);
  }
  // Right in the first round only.
  CHECK(body.at("best").at("name") == "b");
  CHECK(body.at("table")[1].at("verdict") == "wrong_output");
}

TEST_CASE("a failure of ours in a later round is tried once more, and takes nothing away") {
  FakeJudge judge{.times_ns = {{"a", 20'000}, {"b", 50'000}}};
  const std::string ours = GENERATE("engine_fault", "unsupported", "out_of_memory");
  CAPTURE(ours);
  judge.later["a"] = {ours};
  Told told;
  const json once = swept(judge, request_of({"a", "b"}), told);
  CHECK(once.at("best").at("name") == "a");
  CHECK(once.at("best").at("runs") == 100);
  CHECK_FALSE(once.at("best").contains("note"));

  judge.later["a"] = {ours, ours, ours, ours};
  const json always = swept(judge, request_of({"a", "b"}), told);
  CHECK(always.at("best").at("name") == "a");
  CHECK(always.at("best").at("runs") == 10);
  CHECK(always.at("best").at("note").get<std::string>().find("not this time") != std::string::npos);
  CHECK(always.at("summary").get<std::string>().find(
            "2 passed, 0 did not. 1 was timed in fewer runs, by no fault of the kernel.") !=
        std::string::npos);
}

TEST_CASE("a budget that is spent leaves the rest unrun, and says so") {
  FakeJudge judge{.times_ns = {{"a", 50'000}}};
  Told told;
  job::Verdict verdict{};
  const json body = swept(judge, request_of({"a", "b"}, 100, 0), told, &verdict);
  CHECK(verdict == job::Verdict::timed_out);
  CHECK(body.at("table")[0].at("note") ==
        "not compiled within the half of the budget that is for it");
  CHECK(body.at("summary").get<std::string>().starts_with("No variant was run within the budget."));
}

TEST_CASE("compiling leaves half of the budget to what has compiled") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 50'000;
  }
  Told told;
  SweepJob sweep(request_of(names, 100, 4),
                 [&](const json& one, const std::stop_token&) {
                   if (one.at("options").at("until") == "compiled")
                     std::this_thread::sleep_for(std::chrono::milliseconds(700));
                   return judge(one);
                 },
                 told, {});
  const Conclusion conclusion = sweep.run();
  CHECK(conclusion.verdict == job::Verdict::passed);
  std::map<std::string, int> notes;
  int passed = 0;
  for (const auto& line : conclusion.body.at("table")) {
    ++notes[line.value("note", "")];
    passed += line.at("verdict") == "passed" ? 1 : 0;
  }
  CHECK(passed > 0);
  CHECK(notes["not compiled within the half of the budget that is for it"] > 0);
  const auto summary = conclusion.body.at("summary").get<std::string>();
  CHECK(summary.find(" of them not compiled in its half)") != std::string::npos);
  for (const auto& one : judge.asked) {
    const bool is_run = one.at("options").at("until") == "timed";
    const auto is_its_compiling = [&](const json& other) {
      return other.at("kernel") == one.at("kernel") &&
             other.at("options").at("until") == "compiled";
    };
    CHECK((!is_run || std::any_of(judge.asked.begin(), judge.asked.end(), is_its_compiling)));
  }
}

TEST_CASE("ranks that the budget left without a comparison are said to be open") {
  FakeJudge judge{.times_ns = {{"a", 50'000}, {"b", 51'000}, {"c", 90'000}}};
  for (const bool spends_it : {true, false}) {
    CAPTURE(spends_it);
    Told told;
    SweepJob sweep(request_of({"a", "b", "c"}, 10, spends_it ? 1 : 100),
                   [&](const json& one, const std::stop_token&) {
                     if (spends_it && one.at("kernel").at("name") == "c" &&
                         one.at("options").at("until") == "timed")
                       std::this_thread::sleep_for(std::chrono::milliseconds(1100));
                     return judge(one);
                   },
                   told, {});
    const auto summary = sweep.run().body.at("summary").get<std::string>();
    CHECK((summary.find("ranks may be ties") != std::string::npos) == spends_it);
    if (!spends_it) continue;
    // A stage says what its evaluation took.
    const json& last = told.stages.at(told.stages.size() - 2);
    CHECK(last.at("id") == "c");
    CHECK(last.at("ms") >= 1100.0);
  }
}

TEST_CASE("without a GPU the order is that of instructions, and is called so") {
  FakeJudge judge{.times_ns = {{"a", 900}, {"b", 300}}, .clock = "emulated"};
  Told told;
  const json body = swept(judge, request_of({"a", "b"}), told);
  CHECK(body.at("ranked_by") == "thread_instructions");
  CHECK(names_of(body) == std::vector<std::string>{"b", "a"});
  CHECK(!body.at("table")[0].contains("cost_ns"));
}

TEST_CASE("a cancelled sweep ends at once") {
  FakeJudge judge{.times_ns = {{"a", 50'000}}};
  Told told;
  std::stop_source stop;
  SweepJob sweep(
      request_of({"a", "b"}),
      [&](const json& one, const std::stop_token&) {
        stop.request_stop();
        return judge(one);
      },
      told, stop.get_token());
  CHECK_THROWS_AS(sweep.run(), JobStopped);
}

TEST_CASE("on the emulator counts rank, and those that are as good as equal are ties") {
  FakeJudge judge{
      .times_ns =
          {{"a", 1'009}, {"b", 1'000}, {"c", 1'011}, {"d", 2'000}, {"e", 2'000}, {"f", 3'000}},
      .failures = {{"g", "wrong_output"}},
      .clock = "emulated"};
  Told told;
  json request = request_of({"a", "b", "c", "d", "e", "f", "g"});
  request["ref_kernel"] = {{"name", "reference"}};
  const json body = swept(judge, request, told);
  CHECK(body.at("ranked_by") == "thread_instructions");
  CHECK(names_of(body) == std::vector<std::string>{"b", "a", "c", "d", "e", "f", "g"});
  std::vector<int> ranks;
  for (const auto& line : body.at("table")) ranks.push_back(line.value("rank", 0));
  CHECK(ranks == std::vector{1, 1, 3, 4, 4, 6, 0});
  CHECK(body.at("table")[1].at("tied_with_best") == true);
  CHECK(!body.at("table")[0].contains("tied_with_best"));
  CHECK(!body.at("table")[3].contains("tied_with_best"));
  CHECK(body.at("summary").get<std::string>().find("1 more cannot be told from it") !=
        std::string::npos);
  CHECK(body.at("note").get<std::string>().find("within 1 %") != std::string::npos);
  // Nothing is run again to find that out.
  CHECK(judge.asked.size() == 14);
}
