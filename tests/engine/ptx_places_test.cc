// From a line of PTX back to the source line that it was made from.
#include "engine/runner/ptx_places.h"

#include "tests/catch.h"

using namespace assay;
using runner::PtxPlaces;

namespace {

// As NVRTC 13.0 lays it out, shortened.
constexpr const char* kPtx =
    ".version 9.0\n"                                                     // 1
    ".visible .entry _Z1kPf(\n"                                          // 2
    "  .param .u64 _Z1kPf_param_0\n"                                     // 3
    ")\n{\n"                                                             // 4, 5
    "  .reg .f32 %f<4>;\n"                                               // 6
    "  .loc 1 6 0\n"                                                     // 7
    "  ld.param.u64 %rd1, [_Z1kPf_param_0];\n"                           // 8
    "  .loc\t1 3 5, function_name $L__info_string0, inlined_at 1 8 3\n"  // 9
    "  // begin inline asm\n"                                            // 10
    "  bogus.f32 %f1, %f2;\n"                                            // 11
    "  // end inline asm\n"                                              // 12
    "  .loc 2 40 3\n"                                                    // 13
    "  ret;\n}\n"                                                        // 14, 15
    ".func (.param .b32 out) _Z1fi(\n)\n{\n"                             // 16 … 18
    "  .reg .b32 %r<2>;\n"                                               // 19
    "  .loc 1 1 2\n"                                                     // 20
    "  ret;\n}\n"                                                        // 21, 22
    ".file 1 \"/somewhere/kernel.cu\"\n"
    ".file 2 \"/toolkit/cuda_fp16.hpp\"\n";

constexpr const char* kSource =
    "__device__ int f(int x) { return x; }\n"
    "__device__ float bad(float x) {\n"
    "    asm(\"bogus.f32 %0, %1;\" : \"=f\"(x) : \"f\"(x));\n"
    "  return x;\n}\n"
    "__global__ void k(float* p) {\n  int i = 0;\n  p[i] = bad(p[i]);\n}\n";

}  // namespace

TEST_CASE("inline assembly is found at its own line, though it was inlined elsewhere") {
  const auto place = PtxPlaces(kPtx).at(11);
  REQUIRE(place);
  CHECK(place->line == 3);
  CHECK(place->column == 5);
}

TEST_CASE("a line before a function's first location belongs to no line of the function above") {
  CHECK_FALSE(PtxPlaces(kPtx).at(19));
  CHECK_FALSE(PtxPlaces(kPtx).at(1));
  CHECK(PtxPlaces(kPtx).at(21)->line == 1);
  CHECK(PtxPlaces(kPtx).of_function("_Z1kPf")->line == 6);
  CHECK(PtxPlaces(kPtx).of_function("_Z1fi")->line == 1);
  CHECK_FALSE(PtxPlaces(kPtx).of_function("_Z1gi"));
}

TEST_CASE("the assembler's findings get the user's file, line and source line") {
  auto found = runner::parse_diagnostics(
      "ptxas application ptx input, line 11; error   : Not a name of any known instruction: "
      "'bogus'\n"
      "ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x3a980 bytes, 0xc000 "
      "max)\n"
      "ptxas application ptx input, line 14; error   : Of a header\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n",
      {});
  REQUIRE(found.list.size() == 3);
  REQUIRE(runner::needs_places(found));
  runner::place_findings(found, kPtx, kSource, "kernel.cu");
  const auto& inline_assembly = found.list[0];
  CHECK(inline_assembly.file == "kernel.cu");
  CHECK(inline_assembly.line == 3);
  const auto column = static_cast<std::size_t>(inline_assembly.column);
  const auto end = static_cast<std::size_t>(inline_assembly.end_column);
  CHECK(inline_assembly.excerpt.substr(column - 1, end - column) == "asm");
  CHECK(found.list[1].line == 6);
  CHECK(found.list[1].excerpt == "__global__ void k(float* p) {");
  CHECK(found.list[2].file == "/toolkit/cuda_fp16.hpp");
  CHECK(found.list[2].line == 40);
  CHECK_FALSE(runner::needs_places(found));
}

TEST_CASE("a file that #line names is the user's, wherever the compiler thinks it lies") {
  const std::string ptx = "  .loc 1 12 3\n  bogus;\n  .loc 1 13 3\n.file 1 \"/tmp/kernel.py\"\n";
  const std::string source =
      "#line 1 \"functions\"\n\n\n#line 12 \"kernel.py\"\n  asm(\"bogus;\");\n";
  auto found = runner::parse_diagnostics(
      "ptxas application ptx input, line 2; error   : Parsing error\n"
      "ptxas application ptx input, line 3; error   : Beyond the text\n",
      {});
  runner::place_findings(found, ptx, source, "kernel.cu");
  REQUIRE(found.list.size() == 2);
  CHECK(found.list[0].file == "kernel.py");
  CHECK(found.list[0].line == 12);
  CHECK(found.list[0].column == 3);
  CHECK(found.list[0].excerpt == "  asm(\"bogus;\");");
  CHECK(found.list[1].file == "/tmp/kernel.py");
}

TEST_CASE("any text has places or has none, and no text crashes the reader") {
  const std::string whole = kPtx;
  for (std::size_t end = 0; end <= whole.size(); ++end) {
    const PtxPlaces places(std::string_view(whole).substr(0, end));
    for (int line = -1; line < 30; ++line) {
      const auto place = places.at(line);
      if (place) CHECK(place->line > 0);
    }
  }
}
