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

# What honest host code asks of the CUDA runtime.
RUNTIME = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); TORCH_CHECK(e == cudaSuccess, #call, ": ", cudaGetErrorString(e)); } while (0)

__global__ void twice(const float* a, float* out, int n) {
  extern __shared__ float part[];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    part[threadIdx.x] = a[i];
    out[i] = part[threadIdx.x] * 2.0f;
  }
}

torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  const size_t bytes = n * sizeof(float);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int shared = 0, blocks = 0;
  CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  TORCH_CHECK(shared == static_cast<int>(properties.sharedMemPerBlockOptin) && shared >= (64 << 10));
  CHECK(cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  TORCH_CHECK(cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24) != cudaSuccess);
  CHECK(cudaFuncSetAttribute(twice, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  CHECK(cudaFuncSetCacheConfig(twice, cudaFuncCachePreferL1));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 256, 64 << 10));
  TORCH_CHECK(blocks >= 1 && blocks <= 3, "three blocks of 64 KiB fit");

  cudaStream_t stream;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreateWithFlags(&end, cudaEventDefault));
  float *device = nullptr, *pinned = nullptr;
  CHECK(cudaMallocAsync(&device, 2 * bytes, stream));
  CHECK(cudaMallocHost(&pinned, 64));
  CHECK(cudaMemsetAsync(device, 0xff, 2 * bytes, stream));
  CHECK(cudaMemcpyAsync(device, a.data_ptr<float>(), bytes, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaEventRecord(begin, stream));
  twice<<<blocks, 256, 64 << 10, stream>>>(device, device + n, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaStreamWaitEvent(stream, end, 0));
  CHECK(cudaEventSynchronize(end));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  TORCH_CHECK(ms >= 0 && ms < 60000);
  CHECK(cudaMemcpy2DAsync(out.data_ptr<float>(), 16 * 4, device + n, 16 * 4, 16 * 4, n / 16, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemcpyAsync(pinned, device + n, 64, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  TORCH_CHECK(pinned[3] == out.view({-1})[3].item<float>());
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeAsync(device, stream));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(stream));
  return out;
}
"""

# Variables of the device: constant memory filled from the host and from a tensor, one read back, one of a namespace.
VARIABLES = """
#include <torch/extension.h>
#include <cuda_runtime.h>
static __device__ constexpr int kThreads = 128;
__constant__ float weights[2][4];
namespace mine {
__device__ float bias = 5.0f;
namespace {
__device__ unsigned int calls, unused;
}
}
__device__ const float kHalf = 0.5f;
__global__ void apply(const float* a, float* out, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i == 0) atomicAdd(&mine::calls, 1u);
  if (i < n) out[i] = a[i] * weights[1][2] * kHalf + weights[0][1] + mine::bias;
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  float two = 2.0f, zero = 0.0f;
  unsigned int before = 7, after = 0;
  float host[2][4] = {{0, -1, 0, 0}, {0, 0, 9, 0}};
  TORCH_CHECK(cudaMemcpyToSymbol(weights, host, sizeof(weights)) == cudaSuccess);
  auto four = torch::full({1}, 4.0, a.options());
  TORCH_CHECK(cudaMemcpyToSymbol(weights, four.data_ptr<float>(), 4, 6 * sizeof(float), cudaMemcpyDeviceToDevice) == cudaSuccess);
  TORCH_CHECK(cudaMemcpyToSymbolAsync(mine::bias, &zero, sizeof(float), 0, cudaMemcpyHostToDevice, 0) == cudaSuccess);
  TORCH_CHECK(cudaMemcpyToSymbol(weights, host, sizeof(weights), 4) != cudaSuccess, "beyond its end");
  float back = 1.0f;
  TORCH_CHECK(cudaMemcpyFromSymbol(&back, weights, 4, 4) == cudaSuccess);
  TORCH_CHECK(back == -1.0f, "what was written is read");
  TORCH_CHECK(cudaMemcpyToSymbol(weights, &zero, 4, 4) == cudaSuccess);
  TORCH_CHECK(cudaMemcpyToSymbol(mine::calls, &before, 4) == cudaSuccess);
  apply<<<(n + kThreads - 1) / kThreads, kThreads>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);
  TORCH_CHECK(cudaMemcpyFromSymbol(&after, mine::calls, 4, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  TORCH_CHECK(after == 8, "a kernel wrote it");
  return out;
}
"""

# Device headers whose names stand outside of kernels, and a define of CUDA's compiler in the launch.
HEADERS = """
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
__global__ void __launch_bounds__(THREADS) twice(const float* a, float* out, int n) {
  using Reduce = cub::BlockReduce<float, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  auto block = cg::this_thread_block();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float one = i < n ? a[i] : 0.0f;
  float sum = Reduce(storage).Sum(one * 0.0f);
  block.sync();
  if (i < n) out[i] = one * 2.0f + (threadIdx.x == 0 ? sum : 0.0f);
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  twice<<<(n + THREADS - 1) / THREADS, THREADS>>>(a.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""

# Its blocks wait for one another: as many as a device has at once, or more.
COOPERATIVE = """
#include <torch/extension.h>
#include <cooperative_groups.h>
__global__ void twice(const float* a, float* out, int n) {
  cooperative_groups::this_grid().sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] * 2.0f;
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel(), each = 0, parts = 0;
  TORCH_CHECK(cudaDeviceGetAttribute(&parts, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  TORCH_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, twice, 1024, 0) == cudaSuccess);
  const float* from = a.data_ptr<float>();
  float* to = out.data_ptr<float>();
  void* arguments[] = {&from, &to, &n};
  TORCH_CHECK(cudaLaunchCooperativeKernel(twice, dim3(BLOCKS), dim3(1024), arguments, 0, 0) == cudaSuccess);
  return out;
}
"""


# What is no module of Python's: operators that the source registers with torch as it is loaded.
REGISTERED = PLAIN + """
torch::Tensor divided(torch::Tensor a, int64_t by) { return a / by; }
TORCH_LIBRARY(mine_ops, m) { m.def("forward(Tensor a) -> Tensor"); m.def("divided(Tensor a, *, int by=2) -> Tensor"); }
TORCH_LIBRARY_IMPL(mine_ops, CUDA, m) { m.impl("forward", &forward); }
TORCH_LIBRARY_IMPL(mine_ops, CompositeExplicitAutograd, m) { m.impl("divided", &divided); }
"""
OPERATORS = """
class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.mine_ops.divided(torch.ops.mine_ops.forward(torch.ops.mine_ops.forward(x)))
"""


def asking(statement, headers="", in_kernel=False):
    """PLAIN with a statement of the host's before its launch, or of its kernel."""
    if in_kernel:
        return PLAIN.replace("  if (i < n)", f"  {statement}\n  if (i < n)", 1)
    return PLAIN.replace("#include <cuda", headers + "\n#include <cuda", 1).replace("  twice<<<", f"  {statement}\n  twice<<<", 1)


# What only CUDA's own compiler and libraries do: name: (source, what the answer names). On a GPU torch builds them.
FOREIGN = {
    "cuBLAS by torch's handle": (asking("cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle(); float one = 1; "
                                        "cublasSscal(handle, 1, &one, out.data_ptr<float>(), 1);",
                                        "#include <ATen/cuda/CUDAContext.h>\n#include <cublas_v2.h>"), "cublasHandle_t"),
    "a handle without a name of cuBLAS": (asking("auto handle = at::cuda::getCurrentCUDABlasHandle(); (void)handle;",
                                                 "#include <ATen/cuda/CUDAContext.h>"), "getCurrentCUDABlasHandle"),
    "an event of torch's": (asking("at::cuda::CUDAEvent event; event.record();", "#include <ATen/cuda/CUDAEvent.h>"), "CUDAEvent"),
    "thrust": (asking("thrust::fill(thrust::device, out.data_ptr<float>(), out.data_ptr<float>() + n, 0.0f);",
                      "#include <thrust/execution_policy.h>\n#include <thrust/fill.h>"), "thrust"),
    "CUB over the device": (asking("size_t bytes = 0; cub::DeviceReduce::Sum(nullptr, bytes, a.data_ptr<float>(), out.data_ptr<float>(), n);",
                                   "#include <cub/cub.cuh>"), "cub"),
    "a launch with attributes": (asking("cudaLaunchConfig_t c = {}; c.gridDim = (n + 255) / 256; c.blockDim = 256; "
                                        "cudaLaunchKernelEx(&c, twice, (const float*)a.data_ptr<float>(), out.data_ptr<float>(), n);"),
                                 "cudaLaunchKernelEx"),
    "a device lambda": (asking("auto f = [] __device__ (float v) { return v; }; (void)f;"), "a __device__ lambda"),
    "a managed variable": (asking("counter = 1;", "__managed__ int counter = 0;"), "a __managed__ variable"),
    "the address of a variable": (asking("void* at = nullptr; cudaGetSymbolAddress(&at, table);", "__device__ float table;"), "cudaGetSymbolAddress"),
}
# What a GPU's fast build answers and the emulator cannot, because an assembler says it.
ASSEMBLED = {
    "cudaFuncGetAttributes": asking("cudaFuncAttributes t; TORCH_CHECK(cudaFuncGetAttributes(&t, twice) == cudaSuccess && t.numRegs > 0 && "
                                    "t.maxThreadsPerBlock >= 256);"),
    "cudaOccupancyMaxPotentialBlockSize": asking("int g = 0, b = 0; TORCH_CHECK(cudaOccupancyMaxPotentialBlockSize(&g, &b, twice, 0, 0) == "
                                                 "cudaSuccess && b >= 32 && g >= 1);"),
}

_ACCESSOR = """
#include <torch/extension.h>
__global__ void twice(const torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a, torch::PackedTensorAccessor32<float, 2> out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.size(1)) out[blockIdx.y][i] = a[blockIdx.y][i] * 2.0f;
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  twice<<<dim3((a.size(1) + 63) / 64, a.size(0)), 64>>>(a.packed_accessor32<float, 2, torch::RestrictPtrTraits>(), out.packed_accessor32<float, 2>());
  return out;
}
"""
_ACCUMULATED = """
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
template <typename scalar_t>
__global__ void twice(const scalar_t* a, scalar_t* out, int n) {
  using acc_t = at::acc_type<scalar_t, true>;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<scalar_t>(static_cast<acc_t>(a[i]) * 2);
}
torch::Tensor forward(torch::Tensor a) {
  auto out = torch::empty_like(a);
  int n = a.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "twice", [&] {
    twice<scalar_t><<<(n + 255) / 256, 256>>>(a.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n);
  });
  return out;
}
"""
# Device code that takes torch's own headers, which only torch's build gives it: name: (source, what the answer names).
TORCH_ON_DEVICE = {
    "an accessor": (_ACCESSOR, "torch::PackedTensorAccessor32"),
    "a type to accumulate in": (_ACCUMULATED, "at::acc_type"),
    "torch's half": (PLAIN.replace("a[i] * 2.0f", "static_cast<float>(c10::Half(a[i])) * 2.0f"), "c10::Half"),
    "a loop of torch's": (PLAIN.replace("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)", "CUDA_KERNEL_LOOP(i, n)").replace(
        "#include <cuda", "#include <ATen/cuda/detail/KernelUtils.h>\n#include <cuda"), "CUDA_KERNEL_LOOP"),
    "an atomic of torch's": (PLAIN.replace("out[i] = a[i] * 2.0f", "gpuAtomicAdd(out + i, a[i])").replace(
        "#include <cuda", "#include <ATen/cuda/Atomic.cuh>\n#include <cuda").replace("empty_like", "zeros_like"), "gpuAtomicAdd"),
}
# The same words where they mean nothing, and a mistake that is the author's: each with what is wrong in its place.
NO_TORCH_ON_DEVICE = {
    "in a comment": PLAIN.replace("  if (i < n)", "  // as at::acc_type, c10::Half does\n  if (i < m)"),
    "in a text": PLAIN.replace("  if (i < n)", '  if (i < 0) printf("torch::Half at::Half");\n  if (i < m)'),
    "in a macro of the host's": PLAIN.replace("__global__", "#define CHECK(x) TORCH_CHECK(x.is_cuda() && at::isFloatingType(x.scalar_type()))\n__global__")
    .replace("  if (i < n)", "  if (i < m)").replace("auto out", "CHECK(a); auto out"),
    "a member": PLAIN.replace("__global__", "struct Row { const float* p; __device__ float at(int i) const { return p[i]; } };\n__global__", 1)
    .replace("  if (i < n) out[i] = a[i]", "  if (i < m) out[i] = Row{a}.at(i)"),
    "a loop of its own": PLAIN.replace("__global__", "#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; "
                                       "i < n; i += blockDim.x * gridDim.x)\n__global__", 1)
    .replace("int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)", "CUDA_KERNEL_LOOP(i, m)"),
}
