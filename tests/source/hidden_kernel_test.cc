#include "engine/source/hidden_kernel.h"

#include <string>

#include "tests/catch.h"

using assay::source::hidden_kernel;

TEST_CASE("a kernel that a macro makes is seen where the macro is defined") {
  const auto found = hidden_kernel(
      "int a;\n#define KERNEL __global__ __launch_bounds__(256)\nKERNEL void k(int n) {}\n");
  REQUIRE(found);
  CHECK(found->what == "a kernel that a macro makes");
  CHECK(found->line == 2);
  CHECK(hidden_kernel(
      "#define DEF(NAME, T) \\\n  __global__ void NAME(const T* x)\nDEF(k, float) {}"));
}

TEST_CASE("branches within a kernel's head are seen, those beside and within its body are not") {
  const auto found = hidden_kernel(
      "__global__ void k(const float* x,\n#ifdef WITH\nconst float* b,\n#endif\nint n) {}");
  REQUIRE(found);
  CHECK(found->what == "a kernel whose head depends on the preprocessor");
  CHECK(found->line == 2);
  for (const char* plain :
       {"", "#define N 4\n__global__ void k(int n) {\n#if N\n f();\n#endif\n}",
        "__global__ void k(int n);\n#ifdef A\n#endif\n", "// #define K __global__\nint a;",
        "const char* text = \"__global__\";\n#if 1\n#endif"}) {
    INFO(plain);
    CHECK_FALSE(hidden_kernel(plain));
  }
}
