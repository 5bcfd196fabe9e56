// What a program can keep from one launch to the next is seen however it is written.
#include "engine/source/ptx_variables.h"

#include <string>

#include "tests/catch.h"

using assay::source::has_constant_variables;
using assay::source::has_global_variables;

TEST_CASE("variables of every kind are seen", "[ptx_variables]") {
  for (const char* ptx :
       {".global .align 4 .u32 x;", ".visible .global .align 4 .u32 x;",
        ".global .attribute(.managed) .align 4 .u32 x;",
        ".visible .global .attribute(.managed) .align 8 .b8 state[4096];",
        ".extern .global .align 4 .u32 x;", "\t.global\t.u32 x;", "{ .global .u32 x; }",
        ".weak\n.global\n.u32 x;", "{ .reg .u32 t; .global.align 4 .u32 x;",
        "/**/.global/**/.u32 x;", ".global .texref image;"}) {
    CAPTURE(ptx);
    CHECK(has_global_variables(ptx));
    CHECK_FALSE(has_constant_variables(ptx));
  }
  CHECK(has_constant_variables(".const .align 4 .b8 w[64];"));
  CHECK_FALSE(has_global_variables(".const .align 4 .b8 w[64];"));
}

TEST_CASE("accesses to memory are no variables", "[ptx_variables]") {
  const std::string accesses =
      "// .globl add\n.visible .entry add(.param .u64 .ptr .align 1 add_param_0) {\n"
      "ld.global.f32 %f1, [%rd1];\ncvta.to.global.u64 %rd2, %rd1;\nst.volatile.global.u32 [%rd1], "
      "1;"
      "\nld.const.f32 %f1, [w];\nisspacep.const p, a;\ncp.async.ca.shared.global [%r], [%rd], 4;\n"
      ".shared .align 4 .b8 s[64];\n.local .align 4 .b8 d[8];\n}\n.globalised .constant";
  CHECK_FALSE(has_global_variables(accesses));
  CHECK_FALSE(has_constant_variables(accesses));
  CHECK_FALSE(has_global_variables(""));
  CHECK(has_global_variables(accesses + "\n.global"));
}
