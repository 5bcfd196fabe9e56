#include <torch/extension.h>
#include <vector>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
#define THREADS 128

__device__ __forceinline__ float sigmoid(float z) { return 1.0f / (1.0f + expf(-z)); }

__global__ void silu_kernel(const float* __restrict__ x, float* __restrict__ y, const int n) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) y[i] = x[i] * sigmoid(x[i]);
}

std::vector<torch::Tensor> silu_forward(torch::Tensor x) {
  CHECK_INPUT(x);
  auto y = torch::empty_like(x);
  const int n = x.numel();
  silu_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), n);
  return {y};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &silu_forward, "SiLU forward (CUDA)");
}
