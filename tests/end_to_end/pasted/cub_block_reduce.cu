#include <cub/cub.cuh>
#include <cstdio>
constexpr int kThreads = 128;
__global__ void row_sums(const float* x, float* sums, int rows, int cols) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  float own = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) own += x[blockIdx.x * cols + c];
  const float all = Reduce(storage).Sum(own);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}
int main() {
  const int rows = 8, cols = 40;
  row_sums<<<rows, kThreads>>>(nullptr, nullptr, rows, cols);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
