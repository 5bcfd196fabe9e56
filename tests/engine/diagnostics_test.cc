// Logs as NVRTC 13.0.88 wrote them, and what must be read out of them.
#include "engine/runner/diagnostics.h"

#include <chrono>

#include "tests/catch.h"

using namespace assay;
using runner::Diagnostic;
using runner::parse_diagnostics;
using runner::Severity;

namespace {

std::vector<Diagnostic> parse(std::string_view log) { return parse_diagnostics(log, {}).list; }

}  // namespace

TEST_CASE("an error has the line, the column and the end of its word, counted from one") {
  const auto found = parse(
      "kernel.cu(4): error: identifier \"nope\" is undefined\n"
      "    p[0] = nope + 1;\n"
      "           ^\n"
      "\n"
      "1 error detected in the compilation of \"kernel.cu\".\n");
  REQUIRE(found.size() == 1);
  const std::string excerpt = "  p[0] = nope + 1;";
  CHECK(found[0].severity == Severity::error);
  CHECK(found[0].file == "kernel.cu");
  CHECK(found[0].line == 4);
  CHECK(found[0].end_line == 4);
  CHECK(found[0].excerpt == excerpt);
  // The property that readers rely on: the range cut out of the excerpt is the word.
  const auto column = static_cast<std::size_t>(found[0].column);
  const auto end = static_cast<std::size_t>(found[0].end_column);
  CHECK(excerpt.substr(column - 1, end - column) == "nope");
  CHECK(found[0].message == "identifier \"nope\" is undefined");
}

TEST_CASE("columns count bytes through tabs and beyond ASCII") {
  auto found = parse(
      "kernel.cu(2): error: identifier \"zzz\" is undefined\n"
      "  \tint x = 3;\tp[0]=zzz+x;\n"
      "  \t          \t     ^\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excerpt.substr(static_cast<std::size_t>(found[0].column) - 1, 3) == "zzz");
  found = parse(
      "kernel.cu(1): error: unrecognized token\n"
      "  float \u00e4 = 1;\n"
      "        ^\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].column == 7);
  CHECK(found[0].end_column == 9);
}

TEST_CASE("an instantiation trace belongs to its error") {
  const auto found = parse(
      "kernel.cu(1): error: expression must have class type but it has type \"float\"\n"
      "  template<class T> __device__ T f(T x){ return x.foo(); }\n"
      "                                                ^\n"
      "          detected during:\n"
      "            instantiation of \"T f(T) [with T=float]\" at line 2\n"
      "            instantiation of \"T g(T) [with T=float]\" at line 3\n"
      "\n"
      "1 error detected in the compilation of \"kernel.cu\".\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].column == 47);
  CHECK(found[0].message.find("\ninstantiation of \"T g(T) [with T=float]\" at line 3") !=
        std::string::npos);
}

TEST_CASE("notes stand beside the error they explain; a header is named without its folder") {
  const auto log =
      "kernel.cu(2): error: no instance of overloaded function \"__hadd\" matches the argument "
      "list\n"
      "            argument types are: (const char [2], __half)\n"
      "  __global__ void k(__half*p){ p[0]=__hadd(\"x\",p[1]); }\n"
      "                                    ^\n"
      "/opt/cuda/include/cuda_fp16.h(3049): note #3326-D: function \"__hadd(__half, __half)\" does "
      "not match because argument #1 does not match parameter\n"
      "  __CUDA_HOSTDEVICE_FP16_DECL__ __half __hadd(const __half a, const __half b);\n"
      "                                       ^\n"
      "Note #3326-D: function \"__hadd(int, int)\" does not match because argument #1 does not\n"
      "\n";
  const auto found = parse_diagnostics(log, {"/opt/cuda", "/opt/cuda/include"}).list;
  REQUIRE(found.size() == 3);
  CHECK(found[0].message.find("\nargument types are: (const char [2], __half)") !=
        std::string::npos);
  CHECK(found[0].excerpt.starts_with("__global__"));
  CHECK(found[1].severity == Severity::note);
  CHECK(found[1].file == "cuda_fp16.h");
  CHECK(found[1].line == 3049);
  CHECK(found[2].severity == Severity::note);
  CHECK(found[2].line == 0);
}

TEST_CASE("warnings keep their text, the compiler's advice to its own users is dropped") {
  const auto found = parse(
      "kernel.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n"
      "    int unused;\n"
      "        ^\n"
      "\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
      "\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Used 12 registers, used 0 barriers\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::warning);
  CHECK(found[0].message == "variable \"unused\" was declared but never referenced");
}

TEST_CASE("#line names another file, also one with parentheses in its name") {
  auto found = parse("mine.cu(100): error: identifier \"q\" is undefined\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "mine.cu");
  CHECK(found[0].line == 100);
  CHECK(found[0].column == 0);
  found = parse("copy (2).cu(7): error: identifier \"q\" is undefined\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "copy (2).cu");
  CHECK(found[0].line == 7);
}

TEST_CASE("the pseudo-file of name expressions is not shown") {
  const auto found = parse(
      "__nv_name_map(3): error: identifier \"nope\" is undefined\n"
      "  #pragma nv_mangled_name k<nope>\n"
      "                            ^\n"
      "\n"
      "1 error detected in the compilation of \"kernel.cu\".\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file.empty());
  CHECK(found[0].line == 0);
  CHECK(found[0].column == 0);
  CHECK(found[0].message == "name expression 'k<nope>': identifier \"nope\" is undefined");
}

TEST_CASE("the assembler, the linker and the end of the source speak without a place") {
  auto found = parse(
      "ptxas info    : Used 10 registers, used 1 barriers, 400000 bytes smem\n"
      " ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x61a80 bytes, 0xc000 "
      "max)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message ==
        "assembler: Entry function 'k(float*)' uses too much shared data (0x61a80 bytes, 0xc000 "
        "max)");
  found = parse(
      "ptxas application ptx input, line 29; error   : Not a name of any known instruction: "
      "'bogus'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  REQUIRE(found.size() == 1);  // that it gave up is no finding of its own
  CHECK(found[0].message == "assembler: Not a name of any known instruction: 'bogus'");
  CHECK(found[0].ptx_line == 29);
  found = parse("ptxas warning : Value of threads per SM for entry _Z1kPi is out of range.\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::warning);
  found = parse(
      "At end of source: error: expected a \"}\"\n"
      "kernel.cu(1): note #3196-D: to match this \"{\"\n"
      "  __global__ void k(float*p){ p[0]=1;\n"
      "                            ^\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].message == "at the end of the source: expected a \"}\"");
  CHECK(found[1].excerpt.at(static_cast<std::size_t>(found[1].column) - 1) == '{');
  found = parse("nvrtc: error: --diag-suppress expects a non-zero positive integer value\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "--diag-suppress expects a non-zero positive integer value");
}

TEST_CASE("a missing header ends the compilation with one error") {
  const auto found = parse(
      "kernel.cu(1): catastrophic error: cannot open source file \"nope.h\"\n"
      "  #include \"nope.h\"\n"
      "                   ^\n"
      "\n"
      "1 catastrophic error detected in the compilation of \"kernel.cu\".\n"
      "Compilation terminated.\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::error);
  CHECK(found[0].message == "cannot open source file \"nope.h\"");
}

TEST_CASE("a source line that looks like a finding is none") {
  const auto found = parse(
      "kernel.cu(1): error: expected a \";\"\n"
      "  f(); // other.cu(9): error: spoofed\n"
      "  ^\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excerpt == "f(); // other.cu(9): error: spoofed");
}

TEST_CASE("megabytes of findings are read in linear time and told within bounds") {
  std::string log;
  while (log.size() < (4U << 20)) {
    log += "kernel.cu(" + std::to_string(log.size()) + "): error: " + std::string(5000, 'x') +
           "\n  " + std::string(3000, 'y') + "\n  ^\n\n";
  }
  log += std::string(1U << 20, '(') + "\n" + std::string(1U << 20, ')');
  const auto start = std::chrono::steady_clock::now();
  const auto found = parse_diagnostics(log, {});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(found.truncated);
  std::size_t bytes = 0;
  for (const auto& one : found.list) {
    CHECK(one.message.size() <= runner::kMaxMessageBytes + 3);
    CHECK(one.excerpt.size() <= runner::kMaxExcerptBytes + 3);
    bytes += one.message.size() + one.excerpt.size();
  }
  CHECK(bytes <= 2 * runner::kMaxDiagnosticsBytes);
}

TEST_CASE("no text, cut anywhere, breaks the reader") {
  const std::string log =
      "kernel.cu(2): error: a \"x\"\n  p = x;\n      ^\n          detected during f at line 9\n\n"
      "__nv_name_map(3): error: y\n  #pragma nv_mangled_name k<nope>\n ^\n"
      " ptxas error   : Entry '_Z1kPf\nAt end of source: error: \n\xff\xfe(1): error: z\n";
  for (std::size_t from = 0; from < log.size(); ++from) {
    for (std::size_t length = 1; from + length <= log.size(); length += 7) {
      for (const auto& one : parse(std::string_view(log).substr(from, length))) {
        CHECK(one.end_column >= one.column);
      }
    }
  }
}
