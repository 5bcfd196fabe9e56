// The template arguments of launched kernels: as written, as deduced, as the contract says, or not
// known.
#include "engine/source/instances.h"

#include "engine/source/device_code.h"
#include "tests/catch.h"

using namespace assay::source;

namespace {

constexpr const char* kKernel =
    "template <typename T, int N = 1> __global__ void k(T* x, int n) { if (n > N) x[0] = T(1); }\n";

std::vector<LaunchedInstance> instances(const std::string& host,
                                        const ArgumentTypes& contract = {}) {
  return launched_instances(kKernel + host, contract);
}

std::string only(const std::string& host) {
  const auto list = instances(host);
  REQUIRE(list.size() == 1);
  CHECK(list[0].assumed.empty());
  CHECK(list[0].from_contract.empty());
  return list[0].name;
}

}  // namespace

TEST_CASE("a template argument that the launch writes is taken as it is written") {
  for (const char* type : {"double", "uint32_t", "int8_t", "size_t", "unsigned char", "__half"}) {
    INFO(type);
    const std::string name = type;
    CHECK(only("void go(" + name + "* x, int n) { k<" + name + "><<<1, 64>>>(x, n); }") ==
          "k<" + name + ">");
  }
  CHECK(only("void go(at::Half* x, int n) { k<at::Half, 4><<<1, 64>>>(x, n); }") == "k<__half, 4>");
  CHECK(only("void go(int* x, int n) { k<std::int32_t><<<1, 64>>>(x, n); }") == "k<int32_t>");
}

TEST_CASE("names of the host in a template argument are replaced by what they stand for") {
  CHECK(only("using real = double;\nvoid go(real* x, int n) { k<real><<<1, 1>>>(x, n); }") ==
        "k<double>");
  CHECK(only("typedef double real;\nvoid go(real* x, int n) { k<real><<<1, 1>>>(x, n); }") ==
        "k<double>");
  CHECK(only("void go(double* x) { using real = double; k<real, 64><<<1, 1>>>(x, 1); }") ==
        "k<double, 64>");
  CHECK(only("void a() { using real = int; }\nvoid go(float* x) { using real = double; "
             "k<real><<<1, 1>>>(x, 1); }") == "k<double>");
  CHECK(only("void go(float* x) { constexpr int W = 4; constexpr int T = 32 * W; k<float, T><<<1, "
             "T>>>(x, 1); }") == "k<float, 32*(4)>");
}

TEST_CASE("a host template's parameter is what its calls give") {
  const std::string host = "template <typename S> void go(S* x, int n) { k<S><<<1, 1>>>(x, n); }\n";
  CHECK(only(host + "int main() { double* d; go<double>(d, 1); }") == "k<double>");
  CHECK(only(host + "int main() { double* d; go(d, 1); }") == "k<double>");
  CHECK(only("template <int B> void go(float* x) { k<float, B><<<1, B>>>(x, 1); }\n"
             "int main() { float* d; go<128>(d); }") == "k<float, 128>");
}

TEST_CASE("a template argument that is not written is deduced from what is handed over") {
  const std::pair<const char*, const char*> cases[] = {
      {"void go(double* x) { k<<<1, 1>>>(x, 1); }", "k<double>"},
      {"void go(const double* __restrict__ x) { k<<<1, 1>>>(x, 1); }", "k<double>"},
      {"int main() { int *a, *x; k<<<1, 1>>>(x, 1); }", "k<int>"},
      {"int main() { double *d = nullptr, *e; cudaMalloc(&d, 8); k<<<1, 1>>>(d + 4, 1); }",
       "k<double>"},
      {"void go(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<double>(), 1); }", "k<double>"},
      {"void go(torch::Tensor x) { auto* p = x.data_ptr<int>(); k<<<1, 1>>>(p, 1); }", "k<int>"},
      {"void go(torch::Tensor x) { k<<<1, 1>>>((double*)x.data_ptr(), 1); }", "k<double>"},
      {"void go(void* x) { k<<<1, 1>>>(reinterpret_cast<double*>(x), 1); }", "k<double>"},
      {"int main() { thrust::device_vector<double> v(8); "
       "k<<<1, 1>>>(thrust::raw_pointer_cast(v.data()), 1); }",
       "k<double>"},
      {"int main() { std::vector<unsigned> v(8); k<<<1, 1>>>(&v[0], 1); }", "k<unsigned>"},
      {"void other(float* x) {}\nvoid go(double* x) { k<<<1, 1>>>(x, 1); }", "k<double>"},
      {"void go(int* x) { { float* x; } k<<<1, 1>>>(x, 1); }", "k<int>"},
  };
  for (const auto& [host, name] : cases) {
    INFO(host);
    CHECK(only(host) == name);
  }
}

TEST_CASE("an enumerator is a template argument") {
  for (const auto& [kind, spelled] : {std::pair{"enum Op { ADD, MUL };\n", "MUL"},
                                      {"enum class Op { ADD, MUL };\n", "Op::MUL"}}) {
    const std::string source = std::string(kind) +
                               "template <Op op> __global__ void k(float* x) { x[0] = 1; }\n" +
                               "void go(float* x) { k<" + spelled + "><<<1, 32>>>(x); }";
    const auto list = launched_instances(source);
    REQUIRE(list.size() == 1);
    CHECK(list[0].name == std::string("k<") + spelled + ">");
  }
}

TEST_CASE("launches through the run-time's functions are launches") {
  for (const char* kernel : {"(void*)k<double, 64>", "(const void*)&k<double, 64>",
                             "reinterpret_cast<void*>(k<double, 64>)", "k<double, 64>"}) {
    INFO(kernel);
    CHECK(only("void go(double* x, int n) { void* args[] = {&x, &n}; cudaLaunchKernel(" +
               std::string(kernel) + ", dim3(1), dim3(64), args, 0, nullptr); }") ==
          "k<double, 64>");
  }
  CHECK(only("void go(double* x, int n) { cudaLaunchKernelEx(&c, k<double>, x, n); }") ==
        "k<double>");
  const auto list = launches(
      "void go(float* x, int n) { void* a[] = {(void*)&x, &n}; "
      "cudaLaunchKernel((void*)k, grid, dim3(64), a, 128, s); }");
  REQUIRE(list.size() == 1);
  CHECK(list[0].kernel == "k");
  CHECK(list[0].grid == "grid");
  CHECK(list[0].arguments == std::vector<std::string>{"x", "n"});
  CHECK(list[0].shared_bytes == "128");
}

TEST_CASE("what the launch does not tell is as the contract says, else it is said to be assumed") {
  const char* dispatched =
      "void go(torch::Tensor x) { AT_DISPATCH_ALL_TYPES(x.scalar_type(), \"k\", ([&] { "
      "k<scalar_t, 4><<<1, 64>>>(x.data_ptr<scalar_t>(), 1); })); }";
  const auto known = instances(dispatched, {"double", "int"});
  REQUIRE(known.size() == 1);
  CHECK(known[0].name == "k<double, 4>");
  CHECK(known[0].from_contract == std::vector<std::string>{"T = double"});
  const auto unknown = instances(dispatched);
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].name == "k<float, 4>");
  CHECK(unknown[0].assumed == std::vector<std::string>{"T"});
  const auto number =
      instances("void go(float* x, int n) { const int b = pick(); k<float, b><<<1, 64>>>(x, 1); }");
  REQUIRE(number.size() == 1);
  CHECK(number[0].unknown == std::vector<std::string>{"N"});
}

TEST_CASE("of several instances the one that fits the contract comes first") {
  const char* host =
      "void go(void* x, int kind) { if (kind) k<float><<<1, 1>>>((float*)x, 1); else "
      "k<size_t><<<1, 1>>>((size_t*)x, 1); }";
  const auto list = instances(host, {"unsigned long long", "int"});
  REQUIRE(list.size() == 2);
  CHECK(list[0].name == "k<size_t>");
  CHECK(instances(host)[0].name == "k<float>");
}

TEST_CASE("an instance is of the type that the launch makes or names") {
  const std::string source =
      "struct Square { __device__ float operator()(float v) const { return v * v; } };\n"
      "template <class F, int N = 1> __global__ void map(float* x, F f) { x[0] = f(x[N]); }\n";
  for (const char* launch : {"map<<<1, 1>>>(x, Square{});", "map<<<1, 1>>>(x, Square());",
                             "map<Square><<<1, 1>>>(x, f);", "Square s; map<<<1, 1>>>(x, s);"}) {
    INFO(launch);
    const auto list = launched_instances(source + "void run(float* x) { " + launch + " }\n");
    REQUIRE(list.size() == 1);
    CHECK(list[0].name == "map<Square>");
  }
  const auto list = launched_instances(source + "void run(float* x) { map<<<1, 1>>>(x, make()); }");
  REQUIRE(list.size() == 1);
  CHECK(list[0].assumed == std::vector<std::string>{"F"});
}

TEST_CASE("a host function that launches with empty template arguments is set aside") {
  const DeviceCode code = device_code(
      "template <int B = 64> __global__ void k(float* x) { x[0] = B; }\n"
      "void go(float* x) { k<><<<1, 64>>>(x); }\n");
  CHECK(code.text.find("<<<") == std::string::npos);
  CHECK(code.text.find("__global__") != std::string::npos);
  REQUIRE(code.instances.size() == 1);
  CHECK(code.instances[0].name == "k<>");
}

TEST_CASE("an instance's types are there for the compiler though only the host named them") {
  const DeviceCode code = device_code(
      "template <typename T> __global__ void k(T* x) { x[0] = T(1); }\n"
      "void go(at::Half* x, uint32_t* y) { k<at::Half><<<1, 1>>>(x); k<uint32_t><<<1, 1>>>(y); "
      "}\n");
  std::string options;
  for (const auto& option : code.options) options += option + " ";
  CHECK(options == "--pre-include=cuda/std/cstdint --pre-include=cuda_fp16.h ");
}
