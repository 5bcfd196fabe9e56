// RMS normalisation of half activations with half weights; sums in float, two halves a load.
#include <cuda_fp16.h>

__global__ void rmsnorm_half(const __half2* x, const __half2* weight, __half2* y, int columns, float epsilon) {
  __shared__ float warp_sums[8];
  int pairs = columns / 2;
  const __half2* row = x + blockIdx.x * pairs;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < pairs; c += blockDim.x) {
    float2 v = __half22float2(row[c]);
    squares += v.x * v.x + v.y * v.y;
  }
  for (int o = 16; o > 0; o >>= 1) squares += __shfl_down_sync(0xffffffffu, squares, o);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) squares += warp_sums[w];
  float scale = rsqrtf(squares / columns + epsilon);
  for (int c = threadIdx.x; c < pairs; c += blockDim.x) {
    float2 v = __half22float2(row[c]);
    float2 w = __half22float2(weight[c]);
    y[blockIdx.x * pairs + c] = __floats2half2_rn(v.x * scale * w.x, v.y * scale * w.y);
  }
}
