#include <algorithm>
#include <iostream>
#define CLAMP01(v) std::min(std::max(v, 0.0f), 1.0f)
__global__ void clamp_rows(const float* x, float* y, int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = CLAMP01(x[i]) + std::max<float>(x[i], 0);
  index[i] = std::min(i + 1, n - 1);
}
int main() {
  int n = std::max(1000, 24);
  clamp_rows<<<(n + 127) / 128, 128>>>(nullptr, nullptr, nullptr, n);
  std::cout << n << std::endl;
}
