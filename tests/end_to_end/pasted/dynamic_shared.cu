#include <cstdio>
#include <cassert>
__global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int tile[];
  int t = threadIdx.x;
  if (t < n) tile[t] = in[t];
  __syncthreads();
  if (t < n) out[t] = tile[n - 1 - t];
}
int main() {
  const int n = 64;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  reverse<<<1, n, n * sizeof(int)>>>(d_in, d_out, n);
  assert(cudaGetLastError() == cudaSuccess);
}
