#include "engine/runner/signature.h"

#include "engine/runner/kernel_choice.h"
#include "tests/catch.h"

using namespace assay;
using runner::arguments;
using runner::DeclaredArgument;

namespace {

emulator::KernelInfo kernel(const std::string& symbol, std::vector<std::string> ptx_types) {
  emulator::KernelInfo info{.name = symbol};
  for (auto& type : ptx_types)
    info.parameters.push_back({.type = std::move(type), .size_bytes = 8});
  return info;
}

std::string names(const std::vector<DeclaredArgument>& list) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : " ") + one.name;
  return text;
}

}  // namespace

TEST_CASE("names come from the source, C types from the mangled name") {
  const auto list = arguments(kernel("_Z3addPKfS0_Pfi", {"u64", "u64", "u64", "u32"}),
                              "__global__ void add(const float* a, const float *b,\n"
                              "                    float* __restrict__ out, int n = 3) {}");
  CHECK(names(list) == "a b out n");
  CHECK(list[0].type == "float const*");
  CHECK(list[0].is_pointer);
  CHECK(list[0].is_read_only);
  CHECK(list[2].is_pointer);
  CHECK_FALSE(list[2].is_read_only);
  CHECK(list[3].type == "int");
  CHECK_FALSE(list[3].is_pointer);
}

TEST_CASE("an extern \"C\" kernel takes its types from the source") {
  const auto list =
      arguments(kernel("sh", {"u64", "u32", "u64"}),
                "extern \"C\" __global__ void __launch_bounds__(128, 2)\n"
                "sh(float x[], const unsigned  int n, const float2* __restrict q) {}");
  CHECK(names(list) == "x n q");
  CHECK(list[0].type == "float*");
  CHECK(list[0].is_pointer);
  CHECK(list[1].type == "const unsigned int");
  CHECK(list[2].is_read_only);
}

TEST_CASE("comments, strings, calls and other functions do not mislead the search") {
  const auto list =
      arguments(kernel("_Z3addPfi", {"u64", "u32"}),
                "// __global__ void add(float* wrong, int wrong2)\n"
                "/* __global__ void add(float* w, int w2) */\n"
                "__device__ const char* s = \"__global__ void add(float* w, int w)\";\n"
                "__device__ void add(float* w, int w3, int w4);\n"
                "__device__ void add(double* w, int w3) {}\n"
                "constexpr int k = 1'000;\n"
                "__global__ void other(float* p, int q) { add(p, 1, 2); }\n"
                "__global__ void add(float* right, int also_right) {}\n");
  CHECK(names(list) == "right also_right");
}

TEST_CASE("templates, namespaces and overloads are told apart by what they take") {
  auto list = arguments(kernel("_Z5scaleIfLi3EEvPT_f", {"u64", "f32"}),
                        "template <class T, int N> __global__ void scale(T* data, T factor) {}");
  CHECK(names(list) == "data factor");
  CHECK(list[0].type == "float*");
  list = arguments(kernel("_ZN2ns1kEPi", {"u64"}), "namespace ns { __global__ void k(int* p) {} }");
  CHECK(names(list) == "p");
  list = arguments(kernel("_Z1kPi", {"u64"}),
                   "__global__ void k(int* a, int b) {} __global__ void k(int* c) {}");
  CHECK(names(list) == "c");
}

TEST_CASE("a specialisation has the names of its own declaration, a template of the primary's") {
  const char* source =
      "template <class T> __global__ void scale(const T* in, T* out, int n) {}\n"
      "template <> __global__ void scale<double>(const double* din, double* dout, int dn) {}\n"
      "template <> __global__ void scale(const unsigned* uin, unsigned* uout, int un) {}\n";
  const std::vector<std::string> types{"u64", "u64", "u32"};
  CHECK(names(arguments(kernel("_Z5scaleIfEvPKT_PS0_i", types), source)) == "in out n");
  CHECK(names(arguments(kernel("_Z5scaleIdEvPKT_PS0_i", types), source)) == "din dout dn");
  CHECK(names(arguments(kernel("_Z5scaleIjEvPKT_PS0_i", types), source)) == "uin uout un");
}

TEST_CASE("overloads of as many parameters are told apart by their types") {
  const char* source =
      "__global__ void k(double const* d, int m) {} __global__ void k(const float* f, int n) {}";
  CHECK(names(arguments(kernel("_Z1kPKfi", {"u64", "u32"}), source)) == "f n");
  CHECK(names(arguments(kernel("_Z1kPKdi", {"u64", "u32"}), source)) == "d m");
}

TEST_CASE("the values of a parameter pack are numbered") {
  const auto list =
      arguments(kernel("_Z4manyILi3EJifEEvPfDpT0_", {"u64", "u32", "f32"}),
                "template <int N, class... A> __global__ void many(float* o, A... rest) {}");
  CHECK(names(list) == "o rest_0 rest_1");
  CHECK(list[2].type == "float");
}

TEST_CASE("a signature that a macro makes is not guessed") {
  const auto list =
      arguments(kernel("_Z1kPf", {"u64"}), "#define K(x) __global__ void x\nK(k)(P p){}");
  CHECK(names(list) == "arg_0");
  CHECK(list[0].type == "float*");
}

TEST_CASE("a list is split at its own commas only") {
  using List = std::vector<std::string>;
  CHECK(runner::split_list("") == List{});
  CHECK(runner::split_list("void") == List{});
  CHECK(runner::split_list(" a , b<c, d>, e(f, g), h[1, 2]") ==
        List{"a", "b<c, d>", "e(f, g)", "h[1, 2]"});
}

TEST_CASE("no source, cut anywhere, breaks the search") {
  const std::string source =
      "template<class T> __global__ void __launch_bounds__(1) k(T* a = \"x\\\"\", int b[3]) /* ";
  for (std::size_t from = 0; from < source.size(); ++from) {
    for (std::size_t length = 0; from + length <= source.size(); ++length) {
      CHECK(arguments(kernel("k", {"u64", "u64"}), std::string_view(source).substr(from, length))
                .size() == 2);
    }
  }
}

TEST_CASE("a parameter without a name is called by its place, the others keep theirs") {
  const auto list = arguments(kernel("_Z1kPKfjPfi", {"u64", "u32", "u64", "u32"}),
                              "__global__ void k(const float*, unsigned int, float* y, int n);\n"
                              "__global__ void k(const float* x, unsigned, float* y, int n) {}");
  CHECK(names(list) == "x arg_1 y n");
  CHECK(list[1].type == "unsigned int");
}

TEST_CASE("a kernel in a nameless namespace has its own name") {
  const auto list = arguments(kernel("_ZN12_GLOBAL__N_15scaleIfEEvPT_", {"u64"}),
                              "namespace { template <class T> __global__ void scale(T* x) {} }");
  CHECK(names(list) == "x");
  CHECK(list[0].type == "float*");
  CHECK(runner::base_name("_ZN12_GLOBAL__N_15scaleIfEEvPT_") == "scale<float>");
}
