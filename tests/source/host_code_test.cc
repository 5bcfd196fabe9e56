// The host half of CUDA sources: what a C++ compiler without CUDA is given.
#include "engine/source/host_code.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"

using namespace assay::source;

namespace {

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Independent of the lexer: spaces do not count.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\n') out += c;
  }
  return out;
}

std::string rewritten(std::string_view source) {
  const HostCode code = host_code(source);
  INFO(source);
  CHECK(code.obstacles.empty());
  CHECK(lines(code.text) == lines(source));
  return squeezed(code.text);
}

std::string obstacle(std::string_view source) {
  const HostCode code = host_code(source);
  return code.obstacles.empty()
             ? ""
             : std::to_string(code.obstacles[0].line) + ": " + code.obstacles[0].what;
}

const std::string kStubHead = "{structAssayName{static::std::stringtext(){return::assay::Instance(";

}  // namespace

TEST_CASE("a launch becomes a call behind its configuration") {
  CHECK(rewritten("void f() { k<<<g, b>>>(x, n); }") ==
        squeezed("void f() { static_cast<void>(::assay::configure(g, b), k(x, n)); }"));
  CHECK(
      rewritten("void f() { if (n) ::ops::k<float, (3 > 2)><<<dim3(1, 2), 64, 4 * n, s>>>(g(x), "
                "{1, 2}); }") ==
      squeezed("void f() { if (n) static_cast<void>(::assay::configure(dim3(1, 2), 64, 4 * n, s), "
               "::ops::k<float, (3 > 2)>(g(x), {1, 2})); }"));
  CHECK(rewritten("void f() { (pick(n))<<<1, 2>>>(x); }") ==
        squeezed("void f() { static_cast<void>(::assay::configure(1, 2), (pick(n))(x)); }"));
}

TEST_CASE("a launch over several lines keeps them") {
  CHECK(rewritten(
            "void f() {\n  k<float>\n    <<<grid,  // blocks\n       block>>>(\n      x);\n}\n") ==
        squeezed("void f() { static_cast<void>(::assay::configure(grid, block), k<float>(x)); }"));
}

TEST_CASE("launches inside macros and dispatches are rewritten where they stand") {
  CHECK(rewritten("#define RUN(T) k<T><<<g, \\\n  b>>>(p<T>(), \\\n n)\n") ==
        squeezed("#define RUN(T) static_cast<void>(::assay::configure(g, b), k<T>\\\n(p<T>(), \\\n "
                 "n))\n"));
  CHECK(rewritten("void f() { AT_DISPATCH(t, \"f\", ([&] { k<scalar_t><<<1, 2>>>(x); })); }") ==
        squeezed(
            "void f() { AT_DISPATCH(t, \"f\", ([&] { static_cast<void>(::assay::configure(1, 2), "
            "k<scalar_t>(x)); })); }"));
}

TEST_CASE("what looks like a launch in a comment or a text is left alone") {
  const std::string source =
      "const char* s = \"k<<<1, 2>>>(x)\"; // k<<<1, 2>>>(x)\nauto r = R\"(k<<<1,2>>>(x))\"; int y "
      "= 1 << 3 >> 2;";
  CHECK(host_code(source).text == source);
}

TEST_CASE("a kernel becomes a function that launches itself under its own name") {
  CHECK(rewritten("extern \"C\" __global__ void k(const float* x, int) { x[threadIdx.x]; }") ==
        squeezed("extern \"C\" void k(const float* x, int assay_argument_0)") + kStubHead +
            squeezed("\"k\").text(); } }; ::assay::Kernel<AssayName>::entry.launch(x, "
                     "assay_argument_0); }"));
  CHECK(rewritten("namespace a { namespace { template <typename T, int N = (4 > 3), class... R>\n"
                  "static __global__ __launch_bounds__(N, 2) void k(T y[4] = {}, R... rest) { for "
                  "(;;) { } } } }") ==
        squeezed("namespace a { namespace { template <typename T, int N = (4 > 3), class... R> "
                 "static void k(T y[4] "
                 "= {}, R... rest)") +
            kStubHead +
            squeezed("\"a::k\").template types<T>().template values<N>().template "
                     "types<R...>().text(); } }; "
                     "::assay::Kernel<AssayName>::entry.launch(y, rest...); } } }"));
}

TEST_CASE("kernels of one name say what they take; a specialisation is one alone") {
  const std::string text = rewritten(
      "__global__ void k(const int64_t n, float x[4] = nullptr, dim3 = {}) { }\ntemplate <typename "
      "T> __global__ void k(T* x, int) { }\n"
      "namespace a { __global__ void k(int* x) { } }\n__global__ void k(int);\n"
      "template <> __global__ void k<long>(long* x, int n) { }");
  const auto has = [&](std::string_view part) { return text.find(squeezed(part)) != text.npos; };
  CHECK(has("Instance(\"k\").parameters(\"const int64_t, float [4], dim3\").text()"));
  CHECK(
      has("Instance(\"k\").template types<T>().template parameters<decltype(x), "
          "decltype(assay_argument_0)>().text()"));
  CHECK(has("Instance(\"a::k\").text()"));
  CHECK(has("Instance(\"k<long>\").text()"));
}

TEST_CASE("a specialisation names itself; an instance asked for is nothing to the host") {
  CHECK(rewritten("template <> __global__ void k<float>(float* x) { *x = 1; }") ==
        squeezed("template <> void k<float>(float* x)") + kStubHead +
            squeezed("\"k<float>\").text(); } }; ::assay::Kernel<AssayName>::entry.launch(x); }"));
  CHECK(rewritten("template __global__ void k<float>(float*);int after;").ends_with("intafter;"));
}

TEST_CASE("what only a device has is blanked, what both have is kept") {
  CHECK(rewritten(
            "__constant__ float t[2] = {1, 2};\n__device__ int f(int a) { return a; }\nint g();") ==
        "intg();");
  CHECK(rewritten("struct S { int n; __device__ S(int a) : n(a) {} __host__ __device__ int h() "
                  "const { return n; } };") ==
        squeezed("struct S { int n; __host__ __device__ int h() const { return n; } };"));
  CHECK(
      rewritten(
          "#define DEV __device__ inline\nDEV float f(float x) { return __expf(x); }\nint g();") ==
      squeezed("#define DEV __device__ inline\nint g();"));
  CHECK(rewritten("template <typename T> __device__ T f(T x = T{}) { return x; }\nint g();") ==
        "intg();");
}

TEST_CASE("headers that are compiled ahead go, others stay") {
  CHECK(rewritten("#include <torch/extension.h>\n#include <cuda_runtime.h>\n#include "
                  "<vector>\n#include \"mine.h\"\n") ==
        squeezed("#include <vector>\n#include \"mine.h\"\n"));
}

TEST_CASE("x.type().is_cuda() is x.is_cuda(), in macros too") {
  CHECK(rewritten(
            "#define CHECK(x) TORCH_CHECK(x.type().is_cuda(), #x)\nbool b = a.type().is_cuda();") ==
        squeezed("#define CHECK(x) TORCH_CHECK(x.is_cuda(), #x)\nbool b = a.is_cuda();"));
}

TEST_CASE("what needs CUDA's own compiler is named with its line") {
  CHECK(obstacle("int a;\nvoid f() { cublasSgemm(h, 0); }") == "2: cublasSgemm");
  CHECK(obstacle("void f() {\n thrust::sort(a, b); }") == "2: thrust");
  CHECK(obstacle("void f() {\n\n cudaGetSymbolAddress(&p, t); }") == "3: cudaGetSymbolAddress");
  CHECK(obstacle("void f() { cudaLaunchKernelEx(&c, k, 1); }") == "1: cudaLaunchKernelEx");
  CHECK(obstacle("\n#define K(n) __global__ void n(int* x) { }\n") ==
        "2: a __global__ function that a macro makes");
  CHECK(obstacle("void f() { auto g = [=] __device__ (int i) { return i; }; }") ==
        "1: a __device__ lambda");
  CHECK(obstacle("auto g = [x = a[b[0]]] __device__ (int i) { return i; };") ==
        "1: a __device__ lambda");
  CHECK(obstacle("auto g = [](int i) __device__ { return i; };") == "1: a __device__ lambda");
  CHECK(obstacle("__device__ int f() { return cub::X(); }\nint thrust;").empty());
}

TEST_CASE("an attribute before a mark of the device's makes no lambda") {
  CHECK(rewritten(
            "[[nodiscard]] __device__ __forceinline__ float f(float v) { return v; }\nint g();") ==
        "intg();");
  CHECK(rewritten("int g();\nalignas(16) __device__ float4 f(float4 v) { return v; }") ==
        "intg();");
  CHECK(rewritten("[[maybe_unused]] __global__ void k(int n) { }")
            .starts_with("[[maybe_unused]]voidk(intn)" + kStubHead));
  CHECK(obstacle("template <int N> __launch_bounds__(N) __global__ void k(int n) { }").empty());
}

TEST_CASE("host code without CUDA comes back byte for byte") {
  std::mt19937 random(11);
  const std::string pieces[] = {"int f(",
                                "a",
                                ")",
                                "{",
                                "}",
                                ";",
                                "<",
                                ">",
                                " ",
                                "\n",
                                "x<<y",
                                ">>2",
                                "\"q\"",
                                "// c\n",
                                "/* c */",
                                "#define A b\n",
                                "return ",
                                ",",
                                "::",
                                "[&]",
                                "template <class T> "};
  for (int round = 0; round < 3'000; ++round) {
    std::string source;
    for (int i = 0; i < 40; ++i) source += pieces[random() % std::size(pieces)];
    if (source.find("<<<") != std::string::npos) continue;
    INFO(source);
    REQUIRE(host_code(source).text == source);
  }
}

TEST_CASE("generated sources keep their lines, their launches and their kernels") {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string source;
    std::size_t kernels = 0;
    std::size_t launches = 0;
    for (int i = 0; i < 12; ++i) {
      const std::string n = std::to_string(i);
      switch (random() % 5) {
        case 0:
          source += "template <typename T, int N>\n__global__ void k" + n +
                    "(T* x,\n int n) {\n if (n) { x[0] = N; }\n}\n";
          ++kernels;
          break;
        case 1:
          source +=
              "void f" + n + "(int* p) {\n k<float,\n 4><<<(p > 0 ? 1 : 2),\n 32>>>(p, n);\n}\n";
          ++launches;
          break;
        case 2:
          source += "__device__ int d" + n + "(int a) {\n return a;\n}\n";
          break;
        case 3:
          source += "/* k<<<1, 2>>>(x) __global__\n */ namespace n" + n + " {\n int v;\n}\n";
          break;
        default:
          source += "#define M" + n + "(T) k<T><<<1, \\\n 2>>>(x)\n";
          ++launches;
      }
    }
    const HostCode code = host_code(source);
    INFO(source);
    REQUIRE(code.obstacles.empty());
    REQUIRE(lines(code.text) == lines(source));
    REQUIRE(code.kernels == kernels);
    REQUIRE(code.launches == launches);
    REQUIRE(code.text.find("__device__") == std::string::npos);
  }
}

TEST_CASE("a variable of the device that the host names keeps a shadow that registers itself") {
  const auto shadow = [](const std::string& number, const std::string& name,
                         const std::string& word) {
    return " static ::assay::Variable assay_variable_" + number + "(" + number + ", \"" + name +
           "\", (const void*)&" + word + ", sizeof(" + word + "));";
  };
  CHECK(rewritten("namespace a { __constant__ float w[4] = {1, 2, 3, 4}; }\n"
                  "void f() { cudaMemcpyToSymbol(a::w, x, sizeof(a::w)); }") ==
        squeezed("namespace a { __constant__ float w[4] = {1, 2, 3, 4};" +
                 shadow("0", "a::w", "w") +
                 " } void f() { cudaMemcpyToSymbol(a::w, x, sizeof(a::w)); }"));
  CHECK(rewritten("__device__ int n, m[2]; void f() { use(m); }") ==
        squeezed("__device__ int n, m[2];" + shadow("0", "n", "n") + shadow("1", "m", "m") +
                 " void f() { use(m); }"));
  CHECK(rewritten("#define SEND(x) cudaMemcpyToSymbol(w, x, 4)\nstatic __device__ float w;") ==
        squeezed("#define SEND(x) cudaMemcpyToSymbol(w, x, 4)\nstatic __device__ float w;" +
                 shadow("0", "w", "w")));
  CHECK(host_code("__device__ int n, m[2]; void f() { use(m); }").variables ==
        std::vector<std::string>{"n", "m"});
}

TEST_CASE("a constant of the device that the host names is the host's too") {
  CHECK(rewritten("__device__ constexpr int kN = 4, kM = kN;\nvoid f() { g(kM); }") ==
        squeezed("__device__ constexpr int kN = 4, kM = kN;\nvoid f() { g(kM); }"));
  CHECK(rewritten("__device__ constexpr int kN = 4;\nvoid f() { k<<<1, kN>>>(x); }")
            .starts_with(squeezed("__device__ constexpr int kN = 4;\n")));
  CHECK(rewritten("__device__ constexpr int kN = 4;\n__global__ void k(S<kN> s) { }")
            .starts_with(squeezed("__device__ constexpr int kN = 4;\n")));
  // What a declaration needs is kept with it.
  CHECK(rewritten("__device__ const int kN = 4;\n__device__ const int kUnused = 1;\n__constant__ "
                  "float w[kN]; int y = sizeof(w);")
            .starts_with(squeezed("__device__ const int kN = 4;\n__constant__ float w[kN];")));
}

TEST_CASE("a table of functions of the device has no value on the host") {
  CHECK(
      rewritten("__device__ op_t table = &twice; void f() { cudaMemcpyFromSymbol(&h, table, 8); }")
          .starts_with(squeezed("__device__ op_t table ; static ::assay::Variable")));
}

TEST_CASE("what no host can see of a device stays hidden, though the host has the name") {
  CHECK(rewritten("__device__ int f(int w);\nint w;") == "intw;");
  CHECK(rewritten("extern __shared__ float s[];\nint s2 = s;") == "ints2=s;");
  CHECK(rewritten("struct S { static __device__ int w; };\nint x = w;") ==
        squeezed("struct S { };\nint x = w;"));
  CHECK(rewritten("__constant__ struct { float a; } w;\nint x = sizeof(w);") == "intx=sizeof(w);");
  CHECK(rewritten("__constant__ struct P { float a; } w;\nint x = sizeof(w);") ==
        "intx=sizeof(w);");
  CHECK(rewritten("__constant__ struct P w;\nint x = sizeof(w);")
            .starts_with(squeezed("__constant__ struct P w; static ::assay::Variable")));
  CHECK(obstacle("\n__managed__ int n = 0;\nvoid f() { n = 1; }") == "2: a __managed__ variable");
}
