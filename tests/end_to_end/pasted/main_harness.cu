#include <cuda_runtime.h>
#include <iostream>
#include <cstdio>
#include <cstdlib>
#define N (1 << 12)
#define CUDA_CHECK(call)                                                      \
  do {                                                                        \
    cudaError_t err = (call);                                                 \
    if (err != cudaSuccess) {                                                 \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
      exit(EXIT_FAILURE);                                                     \
    }                                                                         \
  } while (0)

__global__ void vecAdd(const float *A, const float *B, float *C, int numElements) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < numElements) C[i] = A[i] + B[i];
}

int main(void) {
  size_t size = N * sizeof(float);
  float *h_A = (float *)malloc(size);
  for (int i = 0; i < N; ++i) h_A[i] = rand() / (float)RAND_MAX;
  float *d_A = NULL, *d_B = NULL, *d_C = NULL;
  CUDA_CHECK(cudaMalloc((void **)&d_A, size));
  CUDA_CHECK(cudaMalloc((void **)&d_B, size));
  CUDA_CHECK(cudaMalloc((void **)&d_C, size));
  CUDA_CHECK(cudaMemcpy(d_A, h_A, size, cudaMemcpyHostToDevice));
  int threadsPerBlock = 256;
  int blocksPerGrid = (N + threadsPerBlock - 1) / threadsPerBlock;
  vecAdd<<<blocksPerGrid, threadsPerBlock>>>(d_A, d_B, d_C, N);
  CUDA_CHECK(cudaGetLastError());
  std::cout << "Test PASSED" << std::endl;
  return 0;
}
