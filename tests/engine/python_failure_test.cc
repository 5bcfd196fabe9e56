#include "engine/node/python_failure.h"

#include <csignal>

#include "tests/catch.h"

using assay::job::Verdict;
using assay::node::python_failure;
using nlohmann::json;

namespace {

json failed(const char* code, const char* stage, const char* exception = "RuntimeError") {
  return {{"type", "failed"},
          {"code", code},
          {"stage", stage},
          {"exception", exception},
          {"message", "what happened"},
          {"frames", json::array({{{"line", 7}, {"function", "f"}, {"text", "  y = g(x)"}}})}};
}

}  // namespace

TEST_CASE("what went wrong in Python has the verdict of its cause, not of its stage alone") {
  struct Row {
    const char* code;
    const char* stage;
    Verdict verdict;
  };
  const auto row = GENERATE(
      Row{"exception", "load", Verdict::compile_failed},
      Row{"missing_module", "load", Verdict::compile_failed},
      Row{"mixed", "load", Verdict::compile_failed}, Row{"exception", "run", Verdict::crashed},
      Row{"exception", "time", Verdict::crashed}, Row{"exception", "make_inputs", Verdict::crashed},
      Row{"out_of_memory", "load", Verdict::out_of_memory},
      Row{"out_of_memory", "run", Verdict::out_of_memory},
      Row{"needs_compiler", "run", Verdict::unsupported},
      Row{"needs_gpu", "load", Verdict::unsupported}, Row{"needs_gpu", "run", Verdict::unsupported},
      Row{"target", "load", Verdict::contract_invalid},
      Row{"arity", "bind", Verdict::contract_invalid},
      Row{"returned", "run", Verdict::contract_invalid},
      Row{"shape", "run", Verdict::wrong_output});
  CAPTURE(row.code, row.stage);
  CHECK(python_failure(failed(row.code, row.stage), "kernel.py", "").verdict == row.verdict);
}

TEST_CASE("a failure names the user's own line and keeps the last that was printed") {
  const std::string output = std::string(5000, 'x') + "the end";
  const auto ended = python_failure(failed("exception", "run", "ValueError"), "kernel.py", output);
  CHECK(ended.summary ==
        "ValueError when it was called at kernel.py:7 (`y = g(x)`): what happened");
  CHECK(ended.detail.at("diagnostics").at(0).at("line") == 7);
  const auto kept = ended.detail.at("output").get<std::string>();
  CHECK(kept.size() == 2000);
  CHECK(kept.ends_with("the end"));
}

TEST_CASE("a reply that is no failure throws, for decode_claim to tell") {
  CHECK_THROWS_AS(python_failure(json::object(), "kernel.py", ""), json::exception);
  json odd = failed("exception", "run");
  odd["frames"] = json::array({{{"line", "seven"}}});
  CHECK_THROWS_AS(python_failure(odd, "kernel.py", ""), json::exception);
  const std::pair<const char*, json> strange[] = {
      {"/traceback", 7},      {"/traceback", {{"a", 1}}},
      {"/frames", 7},         {"/frames", {{"a", 1}}},
      {"/frames/0/line", -7}, {"/frames/0/line", 1e300},
      {"/frames/0/text", 7},  {"/column", "first"},
      {"/message", 7},        {"/exception", nullptr},
      {"/code", 7},           {"/frames", json(5000, odd)}};
  for (const auto& [place, value] : strange) {
    INFO(place << " " << value.dump().substr(0, 80));
    json body = failed("exception", "run");
    body[json::json_pointer(place)] = value;
    CHECK_THROWS_AS(python_failure(body, "kernel.py", ""), json::exception);
  }
}

TEST_CASE("a Python source that kills itself or claims our fault is blamed, nobody else") {
  using assay::node::blame;
  using Why = assay::node::RunnerEnd::Why;
  const auto role = assay::node::RunnerRole::python;
  CHECK(blame({.why = Why::exited, .signal = SIGKILL}, role).verdict == Verdict::crashed);
  CHECK(blame({.why = Why::fault, .detail = "no"}, role).verdict == Verdict::crashed);
  CHECK(blame({.why = Why::malformed}, role).verdict == Verdict::crashed);
  CHECK(blame({.why = Why::lost}, role).verdict == Verdict::engine_fault);
  CHECK(blame({.why = Why::setup_failed}, role).verdict == Verdict::engine_fault);
}
