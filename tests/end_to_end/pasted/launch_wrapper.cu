#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <math.h>
extern "C" {
__global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.5f * v * (1.0f + erff(v * (float)M_SQRT1_2));
}
void launch_gelu(const float* x, float* y, int n, cudaStream_t stream) {
  gelu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
}
