import cupy as cp
kernel = cp.RawKernel(r'''
extern "C" __global__
void saxpy(const float a, const float* x, float* y, const int n) {
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < n) y[tid] = a * x[tid] + y[tid];
}
''', 'saxpy')
x = cp.random.rand(1000, dtype=cp.float32)
kernel((4,), (256,), (2.0, x, x, 1000))
