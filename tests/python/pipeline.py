"""Two Triton and two CuPy kernels in one multi_kernel script, and the same in torch."""

TRITON_AND_CUPY = """import cupy
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * by, mask=mask)

square = cupy.RawKernel(r'''extern "C" __global__ void square(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }''', "square")
shift = cupy.RawKernel(r'''extern "C" __global__ void shift(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1.0f; }''', "shift")

def raw(kernel, x):
    out = torch.empty_like(x)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        kernel(((x.numel() + 255) // 256,), (256,), (x.data_ptr(), out.data_ptr(), cupy.int32(x.numel())))
    return out

def run(x, y):
    n = x.numel()
    total = torch.empty_like(x)
    add_kernel[(triton.cdiv(n, 256),)](x, y, total, n, BLOCK=256)
    squared = raw(square, total)
    scaled = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 256),)](squared, scaled, n, 0.5, BLOCK=256)
    return raw(shift, scaled)
"""
SAME_IN_TORCH = "def run(x, y):\n    return (x + y).square() * 0.5 + 1.0\n"
