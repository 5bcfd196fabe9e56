#include <cstdio>
template <typename T>
__host__ __device__ inline T square(T x) { return x * x; }
__host__ void report(float v) { printf("%f\n", v); }
float plain_helper(float x) { return x + 1.0f; }
__global__ void apply(float* data, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) data[i] = square(data[i]) + plain_helper(0.0f);
}
