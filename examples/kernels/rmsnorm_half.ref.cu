#include <cuda_fp16.h>

__global__ void reference(const __half* x, const __half* weight, __half* y, int columns, float epsilon) {
  if (threadIdx.x != 0) return;
  x += blockIdx.x * columns;
  double squares = 0;
  for (int c = 0; c < columns; ++c) squares += (double)__half2float(x[c]) * __half2float(x[c]);
  double root = sqrt(squares / columns + epsilon);
  for (int c = 0; c < columns; ++c)
    y[blockIdx.x * columns + c] = __float2half((float)(__half2float(x[c]) / root * __half2float(weight[c])));
}
