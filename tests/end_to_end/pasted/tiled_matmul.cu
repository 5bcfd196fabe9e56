#include <stdio.h>
#include <vector>
#include <chrono>
constexpr int TILE = 16;
using namespace std;

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int k = t * TILE + threadIdx.x, k2 = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = (row < M && k < K) ? A[row * K + k] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = (k2 < K && col < N) ? B[k2 * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

struct Timer {
  cudaEvent_t start, stop;
  Timer() { cudaEventCreate(&start); cudaEventCreate(&stop); }
  float ms() { float t; cudaEventElapsedTime(&t, start, stop); return t; }
};

void cpu_matmul(const vector<float>& A, const vector<float>& B, vector<float>& C, int n) {
  for (int i = 0; i < n; ++i) C[i] = A[i] * B[i];
}

int main(int argc, char** argv) {
  int M = 64, N = 64, K = 64;
  Timer timer;
  dim3 block(TILE, TILE);
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  float *a, *b, *c;
  cudaMallocManaged(&a, M * K * 4);
  matmul<<<grid, block>>>(a, b, c, M, N, K);
  cudaDeviceSynchronize();
}
