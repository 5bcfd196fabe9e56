#include "engine/node/python_failure.h"

#include <csignal>

#include "tests/catch.h"

using assay::job::Verdict;
using assay::node::Ended;
using assay::node::explain_death;
using assay::node::place_of_death;
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

TEST_CASE(
    "a death by a signal is told with the line that Python saw last, and its cause if it shows") {
  const std::string traceback =
      "Fatal Python error: Aborted\n\nCurrent thread 0x1 [python] (most recent call first):\n"
      "  File \"/lib/torch/x.py\", line 9 in g\n  File \"kernel.py\", line 31 in f\n"
      "  File \"kernel.py\", line 40 in run\n";
  CHECK(place_of_death(traceback, "kernel.py") == " at kernel.py:31");
  CHECK(place_of_death("  File \"kernel.py\", line 31 in f\n" + traceback, "ref.py").empty());
  CHECK(place_of_death("Fatal Python error: \n  File \"kernel.py\", line ", "kernel.py").empty());
  CHECK(place_of_death("Fatal Python error: \n  File \"kernel.py\", line 99999999999999999999",
                       "kernel.py")
            .empty());
  const auto told = [](const char* signal, const std::string& output) {
    Ended ended{.verdict = Verdict::crashed, .summary = "It died."};
    ended.detail = {{"signal", signal}};
    explain_death(ended, output, "kernel.py");
    return ended.summary;
  };
  CHECK(told("SIGABRT", traceback) == "It died at kernel.py:31.");
  CHECK(told("SIGABRT", "") == "It died.");
  CHECK(told("SIGABRT", "free(): invalid pointer\n" + traceback)
            .ends_with("31. The heap was damaged before that: somewhere memory was written beyond "
                       "the end of a tensor."));
  CHECK(told("SIGSEGV", traceback).find("no memory of the process's") != std::string::npos);
  Ended late{.verdict = Verdict::timed_out, .summary = "It was killed."};
  late.detail = {{"signal", "SIGKILL"}};
  explain_death(late, traceback, "kernel.py");
  CHECK(late.summary == "It was killed.");
}

TEST_CASE("what the message does not tell of where it is called stands behind it") {
  json body = failed("exception", "run");
  body["message"] = "element 0 of tensors does not require grad and does not have a grad_fn";
  CHECK(python_failure(body, "kernel.py", "").summary.find("use torch.enable_grad()") !=
        std::string::npos);
  body = failed("exception", "run", "PermissionError");
  CHECK(python_failure(body, "kernel.py", "").summary.find("no processes") == std::string::npos);
  body["starts_process"] = true;
  CHECK(python_failure(body, "kernel.py", "").summary.find("may start no processes") !=
        std::string::npos);
  body = failed("needs_gpu", "load", "ModuleNotFoundError");
  CHECK(python_failure(body, "kernel.py", "").summary.find("is not installed") !=
        std::string::npos);
}
