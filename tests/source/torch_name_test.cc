// What device code takes of torch's own headers.
#include "engine/source/torch_name.h"

#include "engine/source/device_code.h"
#include "tests/catch.h"

using namespace assay::source;

namespace {

// "2: at::Half", "" if there is none.
std::string found(std::string_view source) {
  const auto name = torch_name(device_code(source).text);
  return name ? std::to_string(name->line) + ": " + name->what : "";
}

std::string within(const std::string& statement) {
  return found("__global__ void k(float* a, int n) {\n" + statement + "\n}\n");
}

}  // namespace

TEST_CASE("names of torch's namespaces in kernels are found, with their line") {
  CHECK(within("at::Half h;") == "2: at::Half");
  CHECK(within("a[0] = ::c10::cuda::f(1);") == "2: c10::cuda::f");
  CHECK(within("using T = at::acc_type<float, true>;") == "2: at::acc_type");
  CHECK(found("__global__ void k(const torch::PackedTensorAccessor32<float, 1> a) {}") ==
        "1: torch::PackedTensorAccessor32");
  CHECK(found("__device__ at::Half f();\n__global__ void k() {}") == "1: at::Half");
}

TEST_CASE("words of torch's headers are found where they are used") {
  CHECK(within("CUDA_KERNEL_LOOP(i, n) a[i] = 0;") == "2: CUDA_KERNEL_LOOP");
  CHECK(within("gpuAtomicAdd(a, 1.0f);") == "2: gpuAtomicAdd");
  CHECK(found("template <class T> C10_HOST_DEVICE __device__ T f(T v) { return v; }") ==
        "1: C10_HOST_DEVICE");
  CHECK(found("using namespace at;\n__global__ void k(PackedTensorAccessor32<float, 1> a) {}") ==
        "2: PackedTensorAccessor32");
  CHECK(found("#define SUM at::Half\n__global__ void k(float* a) {\n*a = SUM(1);\n}") ==
        "3: at::Half");
}

TEST_CASE("words that mean nothing of torch's are none") {
  CHECK(within("// at::Half\n/* torch::Tensor */ printf(\"c10::Half AT_CHECK\");").empty());
  CHECK(within("a[0] = rows.at(n); rows->at(n); int at = 0, torch = at;").empty());
  CHECK(found("#define CHECK(x) TORCH_CHECK(x.is_cuda())\n__global__ void k() {}").empty());
  CHECK(found("#define CUDA_KERNEL_LOOP(i, n) for (int i = 0; i < n; ++i)\n"
              "__global__ void k(int n) { CUDA_KERNEL_LOOP(i, n) {} }")
            .empty());
  CHECK(found("torch::Tensor f(torch::Tensor a) { TORCH_CHECK(a.is_cuda()); return a; }").empty());
}

TEST_CASE("what the source defines itself is its own") {
  CHECK(found("namespace at { struct Half {}; }\n__global__ void k(at::Half h) {}").empty());
  CHECK(found("namespace mine { namespace at { __device__ int x; } }\n"
              "__global__ void k(int* a) { *a = mine::at::x; }")
            .empty());
  CHECK(found("__device__ void gpuAtomicAdd(float* a, float b) { atomicAdd(a, b); }\n"
              "__global__ void k(float* a) { gpuAtomicAdd(a, 1); }")
            .empty());
  CHECK(found("template <class T> struct acc_type { using type = float; };\n"
              "template <class T> __global__ void k(T* a) { typename acc_type<T>::type x; }")
            .empty());
}

TEST_CASE("a host function behind a kernel that is specialised goes like any other") {
  for (const char* kernel :
       {"template <> __global__ void fill<float>(float* x) { *x = 2; }",
        "template <> __global__ void fill<Pair<int>, 4>(Pair<int>* x) { x->a = 2; }"}) {
    const std::string text =
        device_code(std::string(kernel) + "\ntorch::Tensor g(torch::Tensor a) { return a; }\n")
            .text;
    CHECK(text.starts_with(kernel));
    CHECK(text.find("torch") == text.npos);
  }
}
