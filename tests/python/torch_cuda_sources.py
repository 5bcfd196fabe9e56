"""torch_cuda sources as agents write them."""

HEAD = "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import load_inline\n"
TAIL = """
class ModelNew(nn.Module):
    def forward(self, x):
        return module.forward(x)
"""
DECLARED = "torch::Tensor forward(torch::Tensor a);"


def inline(cuda, cpp=DECLARED, functions="['forward']", tail=TAIL, **more):
    """A source whose load_inline takes its texts from variables."""
    extra = "".join(f", {name}={value!r}" for name, value in more.items())
    return (f"{HEAD}cuda_source = r'''{cuda}'''\ncpp_source = r'''{cpp}'''\n"
            f"module = load_inline(name='mine', cpp_sources=cpp_source, cuda_sources=cuda_source, functions={functions}{extra})\n"
            + tail)


PLAIN = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void twice(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * 2.0f;
}

torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  twice<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""

CHECKED = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.type().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

namespace {
template <typename scalar_t, int N = 2>
__global__ void __launch_bounds__(128) scale(const scalar_t* __restrict__ a, scalar_t* __restrict__ out, const int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = a[i] * static_cast<scalar_t>(N);
}
}  // namespace

torch::Tensor forward(torch::Tensor a) {
  CHECK_INPUT(a);
  TORCH_CHECK(a.device().type() == torch::kCUDA);
  const c10::cuda::CUDAGuard guard(a.device());
  auto out = torch::empty(a.sizes(), torch::TensorOptions().dtype(a.dtype()).device(torch::kCUDA));
  const dim3 blocks((a.numel() + 127) / 128);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "scale", ([&] {
    scale<scalar_t><<<blocks, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), a.numel());
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""

# Two kernels, dynamic shared memory, device functions, a temporary of the host's.
ROWS = """
#include <torch/extension.h>
__device__ __forceinline__ float add(float a, float b) { return a + b; }
__global__ void row_sum(const float* a, float* sums, int columns) {
  extern __shared__ float part[];
  float mine = 0.f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) mine = add(mine, a[blockIdx.x * columns + i]);
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void divide(const float* a, const float* sums, float* out, int columns) {
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = a[blockIdx.x * columns + i] - sums[blockIdx.x] / columns;
}
torch::Tensor forward(torch::Tensor a) {
  auto sums = torch::empty({a.size(0)}, a.options());
  auto out = torch::empty_like(a);
  const int threads = 64;
  row_sum<<<a.size(0), threads, threads * sizeof(float)>>>(a.data_ptr<float>(), sums.data_ptr<float>(), a.size(1));
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  divide<<<a.size(0), threads>>>(a.data_ptr<float>(), sums.data_ptr<float>(), out.data_ptr<float>(), a.size(1));
  cudaDeviceSynchronize();
  return out;
}
"""

# The manual's own pattern: the launch stands in cpp_sources, which torch's load_inline cannot build.
IN_CPP = ("#include <torch/extension.h>\n#include <cuda_runtime.h>\n"
          "__global__ void twice(const float* a, float* out, int size) {\n"
          "    int idx = blockIdx.x * blockDim.x + threadIdx.x;\n    if (idx < size) {\n        out[idx] = a[idx] * 2.0f;\n    }\n}\n",
          "torch::Tensor forward(torch::Tensor a) {\n    auto size = a.numel();\n    auto out = torch::zeros_like(a);\n"
          "    const int block_size = 256;\n    const int num_blocks = (size + block_size - 1) / block_size;\n"
          "    twice<<<num_blocks, block_size>>>(a.data_ptr<float>(), out.data_ptr<float>(), size);\n    return out;\n}\n")
