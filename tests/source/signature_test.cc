// What a reader of a kernel's first line knows: names, types, roles of every parameter.
#include "engine/source/signature.h"

#include "tests/catch.h"

using namespace assay::source;

namespace {

Signature only(std::string_view source) {
  const auto list = signatures(source);
  REQUIRE(list.size() == 1);
  return list.front();
}

Parameter parameter(const std::string& text) {
  const Signature signature = only("__global__ void k(" + text + ") {}");
  REQUIRE(signature.parameters.size() == 1);
  return signature.parameters.front();
}

}  // namespace

TEST_CASE("a plain kernel gives its name, line and parameters in order") {
  const auto kernel = only(
      "// a comment\n\n__global__ void add(const float* __restrict__ a, float *out, int n = 4)\n"
      "{ out[0] = a[0]; }\n");
  CHECK(kernel.name == "add");
  CHECK(kernel.line == 3);
  CHECK(kernel.has_body);
  CHECK_FALSE(kernel.is_extern_c);
  REQUIRE(kernel.parameters.size() == 3);
  const auto& a = kernel.parameters[0];
  CHECK(a.name == "a");
  CHECK(a.type == "float");
  CHECK(a.spelled == "const float* __restrict__");
  CHECK(a.pointer_depth == 1);
  CHECK(a.is_const);
  CHECK(a.is_restrict);
  const auto& out = kernel.parameters[1];
  CHECK(out.name == "out");
  CHECK(out.is_pointer());
  CHECK_FALSE(out.is_const);
  CHECK_FALSE(out.is_restrict);
  const auto& n = kernel.parameters[2];
  CHECK(n.name == "n");
  CHECK(n.type == "int");
  CHECK_FALSE(n.is_pointer());
  CHECK(n.default_value == "4");
}

TEST_CASE("every way of writing a parameter is read") {
  struct Row {
    const char* text;
    const char* type;
    const char* name;
    std::size_t pointers;
    bool is_const;
  };
  const Row rows[] = {
      {"unsigned long long n", "unsigned long long", "n", 0, false},
      {"unsigned int", "unsigned int", "", 0, false},
      {"float const * const x", "float", "x", 1, true},
      {"float * const x", "float", "x", 1, false},
      {"float x[]", "float", "x", 1, false},
      {"const float x[16]", "float", "x", 1, true},
      {"float** rows", "float", "rows", 2, false},
      {"__half2 *x", "__half2", "x", 1, false},
      {"std::size_t n", "std::size_t", "n", 0, false},
      {"const std::array<int, 4> shape", "std::array<int, 4>", "shape", 0, true},
      {"float (*x)[4]", "float", "x", 1, false},
      {"const __grid_constant__ CUtensorMap map", "CUtensorMap", "map", 0, true},
      {"const volatile int* flag", "int", "flag", 1, true},
      {"[[maybe_unused]] int n", "int", "n", 0, false},
      {"struct Params p", "Params", "p", 0, false},
      {"typename T::value_type* p", "T::value_type", "p", 1, false},
      {"float* /* the input */ in // here\n", "float", "in", 1, false},
      {"Foo", "Foo", "", 0, false},
      {"ns::Foo", "ns::Foo", "", 0, false},
      {"const Foo", "Foo", "", 0, true},
      {"at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits> x",
       "at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits>", "x", 0, false},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto read = parameter(row.text);
    CHECK(read.type == row.type);
    CHECK(read.name == row.name);
    CHECK(read.pointer_depth == row.pointers);
    CHECK(read.is_const == row.is_const);
  }
  CHECK(only("__global__ void k(void) {}").parameters.empty());
  CHECK(only("__global__ void k() {}").parameters.empty());
}

TEST_CASE("typedefs of the source are looked through") {
  const auto kernel = only(
      "typedef unsigned char byte_t;\nusing real = double;\nusing in_ptr = const real*;\n"
      "__global__ void k(byte_t* b, in_ptr x, real s) {}");
  REQUIRE(kernel.parameters.size() == 3);
  CHECK(kernel.parameters[0].type == "unsigned char");
  CHECK(kernel.parameters[1].type == "double");
  CHECK(kernel.parameters[1].is_pointer());
  CHECK(kernel.parameters[1].is_const);
  CHECK(kernel.parameters[2].type == "double");
  CHECK(kernel.parameters[2].spelled == "real");
}

TEST_CASE("templates, namespaces, extern \"C\" and attributes are seen through") {
  const auto list = signatures(R"(
#define BLOCK 256
namespace ops { namespace {
template <typename T, int N = BLOCK, bool (*F)(int) = nullptr>
static __global__ __launch_bounds__(BLOCK, 2) void reduce(const T* in, T* out, int n) { }
} }
namespace a::b { void __global__ __attribute__((noinline)) k(int x); }
extern "C" {
__global__ void plain(float* x) { if (x) { x[0] = 1; } }
}
extern "C" __global__ void __launch_bounds__(128) single(float* x) {}
template <> __global__ void reduce<float>(const float*, float*, int) {}
template __global__ void ops::reduce<double, 64>(const double*, double*, int);
)");
  REQUIRE(list.size() == 5);
  CHECK(list[0].qualified_name == "ops::reduce");
  REQUIRE(list[0].template_parameters.size() == 3);
  CHECK(list[0].template_parameters[0].is_type());
  CHECK(list[0].template_parameters[1].kind == "int");
  CHECK(list[0].template_parameters[1].default_value == "256");
  CHECK(list[0].launch_bounds == std::vector<std::string>{"256", "2"});
  CHECK(list[1].qualified_name == "a::b::k");
  CHECK_FALSE(list[1].has_body);
  CHECK(list[2].is_extern_c);
  CHECK(list[2].qualified_name == "plain");
  CHECK(list[3].is_extern_c);
  CHECK(list[3].launch_bounds == std::vector<std::string>{"128"});
  CHECK(list[4].specialization == std::vector<std::string>{"float"});
  CHECK(list[4].qualified_name == "reduce");
  REQUIRE(list[4].parameters.size() == 3);
  CHECK(list[4].parameters[0].spelled == "const float*");
  CHECK(list[4].parameters[0].name.empty());
}

TEST_CASE("kernels in comments, strings and dead branches are none") {
  CHECK(signatures("// __global__ void a(int x) {}\n/* __global__ void b() {} */").empty());
  CHECK(signatures("const char* s = \"__global__ void a() {}\";").empty());
  CHECK(signatures("const char* s = R\"cu(\n__global__ void a() {}\n)cu\";").empty());
  CHECK(signatures("#if 0\n__global__ void a() {}\n#endif").empty());
  CHECK(only("#if 0\n__global__ void a() {}\n#else\n__global__ void b() {}\n#endif").name == "b");
  CHECK(only("#ifdef __CUDACC__\n__global__ void a() {}\n#else\nint b;\n#endif").name == "a");
  CHECK(only("#ifndef MISSING\n__global__ void a() {}\n#endif").name == "a");
}

TEST_CASE("macros that make a kernel's declaration are expanded") {
  CHECK(only("#define KERNEL extern \"C\" __global__ void\nKERNEL k(int n) {}").is_extern_c);
  CHECK(only("#define RESTRICT __restrict__\n__global__ void k(float* RESTRICT x) {}")
            .parameters.at(0)
            .is_restrict);
  const auto list = signatures(
      "#define DEFINE(name, T, op) \\\n  __global__ void name##_kernel(const T* x, T* y) { y[0] = "
      "x[0] op "
      "x[0]; }\n\nDEFINE(add, float, +)\nDEFINE(mul, double, *)\n");
  REQUIRE(list.size() == 2);
  CHECK(list[0].name == "add_kernel");
  CHECK(list[0].line == 4);
  CHECK(list[1].name == "mul_kernel");
  CHECK(list[1].parameters.at(0).type == "double");
  CHECK(only("#define A B\n#define B A\n__global__ void k(A* x) {}").parameters.size() == 1);
}

TEST_CASE("a declaration and its definition are one kernel, overloads are two") {
  const auto kernel =
      only("__global__ void k(float* x, int n = 3);\n__global__ void k(float* y, int m) {}");
  CHECK(kernel.has_body);
  CHECK(kernel.line == 2);
  CHECK(kernel.parameters.at(1).name == "m");
  CHECK(kernel.parameters.at(1).default_value == "3");
  CHECK(signatures("__global__ void k(float*) {}\n__global__ void k(double*) {}").size() == 2);
}

TEST_CASE("a kernel after broken text is still found") {
  CHECK(only("int x = (3;\n__global__ void k(int n) {}").name == "k");
  CHECK(only("} } ) ]\n__global__ void k(int n) {}").name == "k");
  CHECK(signatures("__global__ void k(").empty());
  CHECK(signatures("__global__").empty());
  CHECK(signatures("__global__ __global__ void").empty());
}
