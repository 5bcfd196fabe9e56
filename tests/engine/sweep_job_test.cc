#include "engine/node/sweep_job.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using nlohmann::json;

namespace {

struct Told final : Reporter {
  std::vector<json> stages{};
  void tell(StageEvent event) override {
    json one = event.record.body;
    one["stage"] = event.record.name;
    one["ms"] = event.record.elapsed_ms;
    stages.push_back(std::move(one));
  }
  void settle() override {}
};

// A judge by table: how long each kernel takes, or how it fails.
struct FakeJudge {
  std::map<std::string, double> times_ns{};
  std::map<std::string, std::string> failures{};
  std::set<std::string> alike{};   // indistinguishable from whatever they are compared with
  std::set<std::string> faster{};  // than whatever they are compared with
  std::map<std::string, double> graphs_ns{};  // slopes of those that have one
  std::map<std::string, std::string> trusts{};
  std::map<std::string, std::string> beside{};  // trust or verdict of those that are compared
  const char* clock = "gpu";
  std::string device{};  // that it says it ran on; "": it says nothing
  std::mutex mutex{};
  std::vector<json> asked{};

  Conclusion operator()(const json& request) {
    const std::string name = request.at("kernel").at("name");
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (failures.contains(name)) {
      const auto verdict = job::verdict_from(failures.at(name)).value();
      const bool at_compile = verdict == job::Verdict::compile_failed;
      if (at_compile || request.at("options").at("until") != "compiled") {
        return {.verdict = verdict, .body = {{"summary", "it failed: " + name}}};
      }
    }
    Conclusion conclusion{.verdict = job::Verdict::passed,
                          .body = {{"summary", "passed"}, {"trust", "verified"}}};
    if (!device.empty()) conclusion.body["environment"] = {{"device", device}};
    json timed = {{"clock", clock},
                  {"samples_ns",
                   std::vector<double>(request.at("options").at("num_trials"), times_ns[name])}};
    if (request.contains("ref_kernel")) {
      timed["speedup"] = {{"ratio", faster.contains(name) ? 1.02 : 1.0},
                          {"verdict", faster.contains(name)  ? "faster"
                                      : alike.contains(name) ? "indistinguishable"
                                                             : "slower"}};
    }
    if (graphs_ns.contains(name)) {
      timed["graph_counts"] = true;
      timed["views"]["graph"]["median_ns"] = graphs_ns[name];
    }
    if (trusts.contains(name)) conclusion.body["trust"] = trusts[name];
    if (request.contains("ref_kernel") && beside.contains(name)) {
      if (const auto verdict = job::verdict_from(beside[name])) {
        return {.verdict = *verdict, .body = {{"summary", "not as the other: " + name}}};
      }
      conclusion.body["trust"] = beside[name];
    }
    conclusion.body["stages"] = {
        {{"name", "validated"},
         {"body", {{"counters", {{"thread_instructions", times_ns[name]}}}}}},
        {{"name", "timed"}, {"body", timed}}};
    return conclusion;
  }
};

json request_of(const std::vector<std::string>& names, int trials = 100, int budget_s = 100) {
  json variants = json::array();
  for (const auto& name : names) {
    variants.push_back(
        {{"name", name}, {"parameters", json::object()}, {"kernel", {{"name", name}}}});
  }
  return {{"variants", variants},
          {"options", {{"num_trials", trials}, {"until", "timed"}}},
          {"budget_s", budget_s}};
}

json swept(FakeJudge& judge, const json& request, Told& told, job::Verdict* verdict = nullptr) {
  SweepJob sweep(request, [&](const json& one, const std::stop_token&) { return judge(one); }, told,
                 {});
  Conclusion conclusion = sweep.run();
  if (verdict != nullptr) *verdict = conclusion.verdict;
  return conclusion.body;
}

std::vector<std::string> names_of(const json& body) {
  std::vector<std::string> names;
  for (const auto& line : body.at("table")) names.push_back(line.at("name"));
  return names;
}

}  // namespace

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

TEST_CASE("a variant that cannot be told from the best shares its rank") {
  FakeJudge judge{.times_ns = {{"a", 50'000}, {"b", 51'000}, {"c", 52'000}, {"d", 90'000}},
                  .alike = {"b", "d"}};
  Told told;
  const json body = swept(judge, request_of({"a", "b", "c", "d"}), told);
  CHECK(body.at("table")[1].at("rank") == 1);
  CHECK(body.at("table")[1].at("tied_with_best") == true);
  CHECK(body.at("table")[2].at("rank") == 3);
  CHECK(!body.at("table")[2].contains("tied_with_best"));
  // Too far away to be worth a comparison.
  CHECK(!body.at("table")[3].contains("against_best"));
}

TEST_CASE("as many variants share the first rank as cannot be told from it") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 50'000.0 + 100 * i;
    judge.alike.insert(names.back());
  }
  Told told;
  // All of them in the last round: a tie of what was timed by fewer runs is none.
  const json body = swept(judge, request_of(names, 10), told);
  for (const auto& line : body.at("table")) CHECK(line.at("rank") == 1);
}

TEST_CASE("who is faster beside the best is the best") {
  FakeJudge judge{
      .times_ns = {{"a", 50'000}, {"b", 50'500}, {"c", 51'000}}, .alike = {"a"}, .faster = {"b"}};
  Told told;
  const json body = swept(judge, request_of({"a", "b", "c"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"b", "a", "c"});
  CHECK(body.at("best").at("name") == "b");
  CHECK(body.at("table")[1].at("tied_with_best") == true);
}

TEST_CASE("variants are ranked by one clock, whichever it is") {
  FakeJudge judge{.times_ns = {{"short", 14'900}, {"long", 15'100}},
                  .faster = {"long"},
                  .graphs_ns = {{"short", 13'000}, {"long", 4'000}}};
  Told told;
  const json body = swept(judge, request_of({"short", "long"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"long", "short"});
  CHECK(body.at("table")[1].at("median_ns") == 13'000);

  FakeJudge one{.times_ns = {{"short", 14'900}, {"long", 15'100}}, .graphs_ns = {{"long", 4'000}}};
  CHECK(names_of(swept(one, request_of({"short", "long"}), told)) ==
        std::vector<std::string>{"short", "long"});
}

TEST_CASE("a slope that is not there side by side is not the best, nor ranked before it") {
  FakeJudge judge{
      .times_ns = {{"honest", 14'900}, {"leans", 15'100}, {"other", 15'200}, {"slow", 30'000}},
      .graphs_ns = {{"honest", 13'000}, {"leans", 4'000}, {"other", 13'500}, {"slow", 28'000}}};
  Told told;
  const json body = swept(judge, request_of({"leans", "honest", "other", "slow"}), told);
  CHECK(body.at("best").at("name") == "honest");
  CHECK(body.at("best").at("median_ns") == 13'000);
  for (const auto& line : body.at("table")) CHECK(line.at("median_ns") >= 13'000);
  // It was the candidate that was looked at, beside the quickest of those launched alone.
  const auto is_its = [](const json& one) {
    return one.at("kernel").at("name") == "leans" && one.contains("ref_kernel") &&
           one.at("ref_kernel").at("name") == "honest";
  };
  CHECK(std::any_of(judge.asked.begin(), judge.asked.end(), is_its));
}

TEST_CASE("what is seen of a variant beside the best counts: suspect there is suspect") {
  FakeJudge judge{.times_ns = {{"honest", 14'900}, {"cheat", 15'000}, {"other", 15'200}},
                  .faster = {"cheat"},
                  .beside = {{"cheat", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"cheat", "honest", "other"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"honest", "other", "cheat"});
  CHECK(body.at("table")[2].at("trust") == "suspect");
  CHECK(body.at("best").at("trust") == "verified");
}

TEST_CASE("who became suspect beside the best shares no rank with whoever is best then") {
  FakeJudge judge{.times_ns = {{"honest", 14'900}, {"cheat", 15'050}, {"finer", 15'000}},
                  .alike = {"honest", "cheat"},
                  .faster = {"finer"},
                  .beside = {{"cheat", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"cheat", "honest", "finer"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"finer", "honest", "cheat"});
  CHECK(body.at("table")[1].at("rank") == 1);
  CHECK(body.at("table")[2].at("rank") == 3);
  CHECK_FALSE(body.at("table")[2].contains("tied_with_best"));
}

TEST_CASE("a comparison that failed is told, and its variant ranked by what it took alone") {
  FakeJudge judge{.times_ns = {{"honest", 14'100}, {"odd", 15'510}},
                  .graphs_ns = {{"honest", 13'000}, {"odd", 4'000}},
                  .beside = {{"odd", "wrong_output"}}};
  Told told;
  const json body = swept(judge, request_of({"odd", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
  const json& odd = body.at("table")[1];
  CHECK(odd.at("verdict") == "passed");
  CHECK(odd.at("against_best").at("verdict") == "not_compared");
  CHECK(odd.at("against_best").at("why") == "not as the other: odd");
  CHECK(odd.at("relative").get<double>() == Approx(1.1));
}

TEST_CASE("the quickest of those launched alone goes on, however many slopes are before it") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 15'100;
    judge.graphs_ns[names.back()] = 2'000 + i;
  }
  judge.times_ns["v15"] = 14'000;
  judge.graphs_ns["v15"] = 12'000;
  judge.times_ns["v14"] = 3'000;  // which takes no place from it
  judge.trusts["v14"] = "suspect";
  Told told;
  const json body = swept(judge, request_of(names, 160), told);
  CHECK(body.at("best").at("name") == "v15");
  CHECK(body.at("best").at("runs") == 160);
}

TEST_CASE("what something speaks against is not the best, unless all are so") {
  FakeJudge judge{.times_ns = {{"idle", 3'000}, {"honest", 50'000}},
                  .trusts = {{"idle", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"idle", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
  CHECK(body.at("table")[1].at("trust") == "suspect");
  CHECK(body.at("summary").get<std::string>().find("2 passed (1 of them suspect)") !=
        std::string::npos);

  FakeJudge all{.times_ns = {{"a", 3'000}, {"b", 50'000}},
                .trusts = {{"a", "suspect"}, {"b", "suspect"}}};
  CHECK(swept(all, request_of({"a", "b"}), told).at("best").at("name") == "a");
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

TEST_CASE("the reference judges each variant once, in the first round") {
  FakeJudge judge{.times_ns = {{"a", 50'000}}};
  json request = request_of({"a"}, 100);
  request["ref_kernel"] = {{"name", "reference"}};
  Told told;
  (void)swept(judge, request, told);
  int with_reference = 0;
  for (const auto& one : judge.asked) with_reference += one.contains("ref_kernel") ? 1 : 0;
  CHECK(with_reference == 1);
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
  CHECK(!body.at("table")[0].contains("median_ns"));
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
  const json body = swept(judge, request_of({"a", "b", "c", "d", "e", "f", "g"}), told);
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
