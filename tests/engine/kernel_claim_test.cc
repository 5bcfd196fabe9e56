// What a kernel's runner says, believed only as far as it can be read.
#include "engine/node/kernel_claim.h"

#include "engine/runner/outcome_frame.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using job::Verdict;
using nlohmann::json;

namespace {

const PassedArguments kPassed{.kernel = "/kernel", .in_contract = {0, 2}};

std::variant<Loaded, Ended> loaded(const json& body) {
  return loaded_claim(body, RunnerRole::kernel, "wanted", kPassed);
}

template <typename Claim>
Ended ended(const Claim& claim) {
  REQUIRE(std::holds_alternative<Ended>(claim));
  return std::get<Ended>(claim);
}

json entry(const std::string& base, const std::string& display) {
  return {{"name", "_Z" + base},
          {"base_name", base},
          {"display_name", display},
          {"parameters", json::array()}};
}

json ended_launch(const std::string& how) {
  return {{"type", "ran"},
          {"ending", how},
          {"printf", std::string(3000, 'x')},
          {"fault", {{"message", "reads past x"}, {"where", {{"file", "k.cu"}, {"line", 7}}}}}};
}

}  // namespace

TEST_CASE("an answer to another question is our fault, whichever was asked") {
  const json body = {{"type", "pong"}};
  CHECK(ended(loaded(body)).verdict == Verdict::engine_fault);
  CHECK(ended(sequence_claim(body)).verdict == Verdict::engine_fault);
  CHECK(ended(ran_claim(body)).verdict == Verdict::engine_fault);
  CHECK(ended(inspected_claim(body)).verdict == Verdict::engine_fault);
  CHECK(ended(staged_claim(body)).verdict == Verdict::engine_fault);
  CHECK(ended(captured_claim(body)).verdict == Verdict::engine_fault);
  CHECK(ended(turns_claim(body, {{.runs = 1}})).verdict == Verdict::engine_fault);
  CHECK(ended(counted_claim(body)).verdict == Verdict::engine_fault);
}

TEST_CASE("what cannot be read as an answer is the runner's end, no exception of ours") {
  for (const json& body :
       {json(7), json({{"type", 7}}), json({{"type", "staged"}, {"places", "x"}}),
        json({{"type", "loaded_sequence"}, {"has_variables", "x"}})}) {
    INFO(body.dump());
    const RunnerRole role = RunnerRole::gpu_kernel;
    const Ended whole = blame({.why = RunnerEnd::Why::malformed}, role);
    if (body.dump().find("sequence") == std::string::npos) {
      CHECK(ended(decode_claim(role, [&] { return staged_claim(body); })).verdict == whole.verdict);
    } else {
      CHECK(ended(decode_claim(role, [&] { return sequence_claim(body); })).verdict ==
            whole.verdict);
    }
  }
  CHECK(ended(staged_claim({{"type", "staged"}, {"places", 0}})).verdict == Verdict::engine_fault);
}

TEST_CASE("of several turns those before a failure are kept, and none may be missing or too many") {
  const json good = {{"ending", "completed"},
                     {"samples_ns", {5.0, 6.0}},
                     {"once_ns", {8.0, 9.0}},
                     {"launches", 1},
                     {"clock_mhz", 1980.0},
                     {"event_overhead_ns", 2.0},
                     {"note", ""}};
  json uncaptured = good;
  uncaptured["samples_ns"] = json::array();
  uncaptured["note"] = "graph capture failed";
  json crashed = ended_launch("faulted");
  const auto claim = [](const json& turns, std::size_t ordered) {
    return turns_claim({{"type", "timed"}, {"turns", turns}},
                       std::vector<OrderedTurn>(ordered, {.runs = 2, .is_graph = true}));
  };
  const auto kept = [&](const json& turns, std::size_t ordered) {
    const auto told = claim(turns, ordered);
    REQUIRE(std::holds_alternative<Turns>(told));
    return std::get<Turns>(told);
  };
  CHECK(kept({good, good}, 2).taken.size() == 2);
  CHECK_FALSE(kept({good, good}, 2).ended);
  CHECK(kept({good, good}, 2).taken[1].samples_ns == std::vector{5.0, 6.0});
  CHECK(kept({good, crashed}, 3).taken.size() == 1);
  CHECK(kept({good, crashed}, 3).ended->verdict == Verdict::crashed);
  CHECK(kept({good, uncaptured}, 3).taken.back().note == "graph capture failed");
  CHECK(ended(claim(json::array({good}), 2)).verdict == Verdict::engine_fault);
  CHECK(ended(claim({good, good}, 1)).verdict == Verdict::engine_fault);
  CHECK(ended(claim({crashed, good}, 2)).verdict == Verdict::engine_fault);
  CHECK(ended(claim(json::array(), 1)).verdict == Verdict::engine_fault);
}

TEST_CASE("a kernel that is not there is answered by those that are, overloads by their types") {
  json kernels = {entry("add", "add(int)"), entry("add", "add(float)"), entry("mul", "mul(int)")};
  const Ended none = ended(loaded({{"type", "loaded"}, {"kernels", kernels}}));
  CHECK(none.verdict == Verdict::contract_invalid);
  CHECK(none.summary == "Kernel 'wanted' not found. Available: [add(int), add(float), mul]");
  kernels.push_back(entry("want", "want(int)"));
  const Ended misspelt = ended(loaded({{"type", "loaded"}, {"kernels", kernels}}));
  CHECK(misspelt.summary ==
        "Kernel 'wanted' not found. Available: [add(int), add(float), mul, want]; nearest: want");
  const Ended empty = ended(loaded({{"type", "loaded"}, {"kernels", json::array()}}));
  CHECK(empty.summary.find("No kernels found") == 0);

  for (int i = 0; i < 100; ++i) kernels.push_back(entry(std::string(4000, 'k'), "k"));
  const Ended many = ended(loaded({{"type", "loaded"}, {"kernels", kernels}}));
  CHECK(many.detail.at("available").size() == 50);
  CHECK(many.detail.dump().size() < 50'000);
  CHECK(many.summary.find("…]") != std::string::npos);
}

TEST_CASE("a misfit is told at the contract's argument, whatever is not passed") {
  const json misfits = {{{"argument", 1}, {"message", "too many"}},
                        {{"argument", 9}, {"message", "none such"}}};
  const Ended told = ended(loaded(
      {{"type", "loaded"}, {"kernel", "_Zk"}, {"kernels", json::array()}, {"misfits", misfits}}));
  CHECK(told.verdict == Verdict::contract_invalid);
  CHECK(told.detail.at("violations").at(0).at("pointer") == "/kernel/io/args/2");
  CHECK(told.detail.at("violations").at(1).at("pointer") == "/kernel/io/args");
  CHECK(told.summary == "The contract does not fit the kernel: too many (/kernel/io/args/2)");
}

TEST_CASE("of a launch that took too long the grid, a block or a loop is to blame") {
  const auto told = [](const json& grid) {
    json body = ended_launch("budget_wall");
    body["fault"]["message"] = "";
    body["fault"]["block"] = {3, 0, 0};
    if (!grid.is_null()) body["grid"] = grid;
    return ended(ran_claim(body)).summary;
  };
  const std::string begin = "The kernel did not end within its time";
  const std::string advice =
      ". Look for a loop whose condition never changes; if there is none, "
      "give it less to do, or more time.";
  CHECK(told(nullptr) == begin + " at k.cu:7" + advice);
  CHECK(told({{"blocks", 8}, {"ended", 0}}) ==
        begin + " at k.cu:7: 0 of 8 blocks had ended" + advice);
  CHECK(told({{"blocks", 8}, {"ended", 5}, {"was_progressing", true}}) ==
        begin + ": 5 of 8 blocks had ended. Make the grid smaller, or give it more time.");
  CHECK(told({{"blocks", 8}, {"ended", 7}, {"times_as_long", 90}}) ==
        begin +
            " at k.cu:7: 7 of 8 blocks had ended, and block [3,0,0] had run 90 times as long as "
            "those" +
            advice);
}

TEST_CASE("how a launch ended is a verdict with its line; what it printed is kept, cut") {
  const std::vector<std::pair<const char*, Verdict>> endings{
      {"faulted", Verdict::crashed},
      {"budget_wall", Verdict::timed_out},
      {"out_of_memory", Verdict::out_of_memory},
      {"invalid_launch", Verdict::launch_failed},
      {"stopped", Verdict::cancelled},
      {"in a way of its own", Verdict::engine_fault}};
  for (const auto& [how, verdict] : endings) {
    INFO(how);
    CHECK(ended(ran_claim(ended_launch(how))).verdict == verdict);
  }
  const Ended crash = ended(ran_claim(ended_launch("faulted")));
  CHECK(crash.summary == "The kernel crashed at k.cu:7: reads past x");
  CHECK(crash.detail.at("printf").get<std::string>().size() == 2000);
  CHECK(crash.detail.at("printf_truncated") == true);
}

TEST_CASE("counts, findings and counters that are none are the runner's end, whatever was asked") {
  const RunnerRole role = RunnerRole::kernel;
  const auto is_refused = [&](const auto& claim) {
    return std::holds_alternative<Ended>(claim) &&
           std::get<Ended>(claim).detail.value("why", "") == "malformed";
  };
  const auto with = [](json body, const char* place, const json& value) {
    body[json::json_pointer(place)] = value;
    return body;
  };
  const json ran = {{"type", "ran"},
                    {"ending", "completed"},
                    {"elapsed_ns", 5},
                    {"printf", ""},
                    {"printf_truncated", false},
                    {"message", ""},
                    {"findings", json::array()},
                    {"notes", json::array()},
                    {"checked_blocks", 1},
                    {"blocks", 1},
                    {"counters", {{"blocks", 1}}}};
  REQUIRE(std::holds_alternative<Ran>(ran_claim(ran)));
  REQUIRE(std::holds_alternative<Inspected>(inspected_claim(ran)));
  for (const auto& [place, value] :
       std::vector<std::pair<const char*, json>>{{"/elapsed_ns", -5},
                                                 {"/elapsed_ns", 1e300},
                                                 {"/counters", 7},
                                                 {"/counters/x", "many"},
                                                 {"/findings", json::array({{{"kind", "x"}}})}}) {
    INFO(place << " " << value.dump());
    CHECK(is_refused(decode_claim(role, [&] { return ran_claim(with(ran, place, value)); })));
  }
  const json where = {{"file", "k.cu"}, {"line", 3}};
  const json finding = {
      {"kind", "race"}, {"severity", "error"}, {"message", "m"}, {"where", where}};
  const json profile = {{"metrics", json::array({{{"name", "a"}, {"value", 1}}})},
                        {"lines", json::array()},
                        {"flops", 1},
                        {"global_bytes_requested", 1},
                        {"global_bytes_unique", 1}};
  const json counting = with(with(ran, "/findings", json::array({finding})), "/profile", profile);
  REQUIRE(std::holds_alternative<Inspected>(inspected_claim(counting)));
  for (const auto& [place, value] :
       std::vector<std::pair<const char*, json>>{{"/findings", 7},
                                                 {"/findings/0", "race"},
                                                 {"/findings/0/severity", 1},
                                                 {"/findings/0/where", 3},
                                                 {"/findings/0/where/line", -3},
                                                 {"/findings", json(5000, finding)},
                                                 {"/notes", "none"},
                                                 {"/notes", {1}},
                                                 {"/blocks", -1},
                                                 {"/checked_blocks", "all"},
                                                 {"/profile", 7},
                                                 {"/profile/metrics", 7},
                                                 {"/profile/metrics/0/name", 7},
                                                 {"/profile/metrics/0/value", "x"},
                                                 {"/profile/flops", -1},
                                                 {"/profile/lines", {}}}) {
    INFO(place << " " << value.dump().substr(0, 80));
    CHECK(is_refused(
        decode_claim(role, [&] { return inspected_claim(with(counting, place, value)); })));
  }
  for (const json& places : {json(-1), json(1.5), json(std::uint64_t{1} << 40)}) {
    CHECK(is_refused(decode_claim(role, [&] {
      return staged_claim({{"type", "staged"}, {"places", places}});
    })));
  }
  const json stopped = {{"type", "ran"},
                        {"ending", "invalid_launch"},
                        {"printf", ""},
                        {"message", ""},
                        {"fault", {{"message", "m"}, {"where", where}}}};
  CHECK(ended(ran_claim(stopped)).verdict == Verdict::launch_failed);
  for (const auto& [place, value] :
       std::vector<std::pair<const char*, json>>{{"/fault", 7},
                                                 {"/fault", "none"},
                                                 {"/fault/message", 7},
                                                 {"/fault/where", 3},
                                                 {"/fault/where/line", -3},
                                                 {"/fault/where/file", nullptr},
                                                 {"/printf", 7}}) {
    INFO(place << " " << value.dump());
    CHECK(is_refused(decode_claim(role, [&] { return ran_claim(with(stopped, place, value)); })));
  }
  const json kernels = {{"type", "loaded"},
                        {"kernels", json::array()},
                        {"kernel", "k"},
                        {"misfits", json::array()},
                        {"register_rows", -1}};
  CHECK(is_refused(decode_claim(role, [&] { return loaded(kernels); })));
}

TEST_CASE("a program that the device has no room for is out of memory, and nothing else is") {
  json body = {{"type", "unloadable"},
               {"ptx_line", 0},
               {"message", "CUDA_ERROR_OUT_OF_MEMORY: out of memory"},
               {"where", {{"file", ""}, {"line", 0}}}};
  const auto verdict = [&](RunnerRole role) {
    return ended(loaded_claim(body, role, "wanted", kPassed)).verdict;
  };
  CHECK(verdict(RunnerRole::gpu_kernel) == Verdict::out_of_memory);
  CHECK(ended(sequence_claim(body)).verdict == Verdict::out_of_memory);
  CHECK(verdict(RunnerRole::kernel) == Verdict::unsupported);
  body["message"] = "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image";
  CHECK(verdict(RunnerRole::gpu_kernel) == Verdict::unsupported);
  CHECK(ended(sequence_claim(body)).verdict == Verdict::unsupported);
}
