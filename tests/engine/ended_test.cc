#include "engine/node/ended.h"

#include <csignal>

#include "engine/node/compilation.h"
#include "tests/catch.h"

using assay::job::Verdict;
using assay::node::blame;
using assay::node::first_global;
using assay::node::RunnerEnd;
using assay::node::RunnerRole;
using Why = assay::node::RunnerEnd::Why;

namespace {

Verdict verdict(const RunnerEnd& end, RunnerRole role) { return blame(end, role).verdict; }

}  // namespace

TEST_CASE("what user code did is a verdict; what we did is an engine fault") {
  CHECK(verdict({.why = Why::exited, .signal = SIGSEGV}, RunnerRole::kernel) == Verdict::crashed);
  CHECK(verdict({.why = Why::exited, .signal = SIGSEGV}, RunnerRole::compile) ==
        Verdict::compile_failed);
  CHECK(verdict({.why = Why::exited, .signal = SIGSEGV}, RunnerRole::referee) ==
        Verdict::engine_fault);
  CHECK(verdict({.why = Why::exited, .exit_code = 3}, RunnerRole::kernel) == Verdict::crashed);
  CHECK(verdict({.why = Why::fault, .detail = "bug"}, RunnerRole::kernel) == Verdict::engine_fault);
  CHECK(verdict({.why = Why::setup_failed}, RunnerRole::compile) == Verdict::engine_fault);
}

TEST_CASE("deadline, memory, flood and cancel have verdicts of their own") {
  CHECK(verdict({.why = Why::timed_out}, RunnerRole::kernel) == Verdict::timed_out);
  CHECK(verdict({.why = Why::timed_out}, RunnerRole::compile) == Verdict::timed_out);
  CHECK(verdict({.why = Why::timed_out}, RunnerRole::referee) == Verdict::engine_fault);
  CHECK(verdict({.why = Why::memory_exceeded}, RunnerRole::compile) == Verdict::out_of_memory);
  CHECK(verdict({.why = Why::output_flood}, RunnerRole::kernel) == Verdict::crashed);
  CHECK(verdict({.why = Why::cancelled}, RunnerRole::referee) == Verdict::cancelled);
  CHECK(verdict({.why = Why::malformed}, RunnerRole::kernel) == Verdict::crashed);
}

TEST_CASE("a kill from outside interrupts the job and blames nobody") {
  const auto ended = blame({.why = Why::exited, .signal = SIGKILL}, RunnerRole::kernel);
  CHECK(ended.verdict == Verdict::engine_fault);
  CHECK(ended.interrupted);
  CHECK(blame({.why = Why::lost}, RunnerRole::kernel).interrupted);
  CHECK(blame({.why = Why::exited, .signal = SIGKILL}, RunnerRole::referee).interrupted);
}

TEST_CASE("the first kernel of a source is found past comments, attributes and templates") {
  CHECK(first_global("__global__ void a(int* p) {}") == "a");
  CHECK(first_global("// __global__ void no();\n__global__ void yes() {}") == "yes");
  CHECK(first_global("/* __global__ void no() */ extern \"C\" __global__ void yes() {}") == "yes");
  CHECK(first_global("__global__ __launch_bounds__(256, 2) void k(float* x) {}") == "k");
  CHECK(first_global("template <typename T> __global__ void scale(T* x) {}") == "scale");
  CHECK(first_global("void host() {}").empty());
  CHECK(first_global("__global__").empty());
}

TEST_CASE("what ran out of time, crashed or failed in an unknown way may be at work still") {
  const auto goes_on = [](Verdict verdict) {
    return assay::node::may_go_on({.verdict = verdict, .summary = "it ended"});
  };
  for (const Verdict verdict : {Verdict::timed_out, Verdict::crashed, Verdict::engine_fault}) {
    CHECK(goes_on(verdict));
  }
  for (const Verdict verdict :
       {Verdict::wrong_output, Verdict::launch_failed, Verdict::compile_failed,
        Verdict::contract_invalid, Verdict::unsupported, Verdict::out_of_memory}) {
    CHECK_FALSE(goes_on(verdict));
  }
}
