// Elementwise kernels: one thread per element, grid stride, and half and double arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void vadd(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float alpha, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = alpha * x[i] + y[i];
}

extern "C" __global__ void half_axpy(const __half2* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(x[i], __float2half2_rn(0.5f), y[i]);
}

extern "C" __global__ void bfloat_scale(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * 3.0f);
}

extern "C" __global__ void double_math(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrt(x[i]) * exp(-x[i]) + 1.0 / (x[i] + 1.0);
}

extern "C" __global__ void float_math(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tanhf(x[i]) + expf(-x[i] * x[i]) + logf(fabsf(x[i]) + 1.0f) + sinf(x[i]);
}

__constant__ float table[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};

extern "C" __global__ void constant_lookup(const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i] & 15];
}

extern "C" __global__ void local_array(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count[16];
  for (int k = 0; k < 16; ++k) count[k] = 0;
  for (int k = 0; k < 32; ++k) count[(x[i] + k * k) & 15] += k;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + count[(k + x[i]) & 15];
  out[i] = sum;
}
