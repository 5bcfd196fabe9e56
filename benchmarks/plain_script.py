"""What an agent would write without a server: a fresh Python process that compiles a kernel with CuPy, judges it
against PyTorch or NumPy and times 100 runs with events. Prints one line; exit 3 where a module is missing.
"""

import sys

try:
    import cupy
except ImportError as error:
    print(error)
    sys.exit(3)

N = 1 << 20
SOURCE = """extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}  // """ + (sys.argv[1] if len(sys.argv) > 1 else "")

add = cupy.RawKernel(SOURCE, "add")
samples = []
for trial in range(3):
    a, b, out = cupy.random.randn(N, dtype=cupy.float32), cupy.random.randn(N, dtype=cupy.float32), cupy.empty(N, cupy.float32)
    add((N // 256,), (256,), (a, b, out, cupy.int32(N)))
    assert cupy.allclose(out, a + b)
start, stop = cupy.cuda.Event(), cupy.cuda.Event()
for run in range(110):
    start.record()
    add((N // 256,), (256,), (a, b, out, cupy.int32(N)))
    stop.record()
    stop.synchronize()
    samples.append(cupy.cuda.get_elapsed_time(start, stop))
print(f"median {sorted(samples[10:])[50] * 1e3:.1f} us")
