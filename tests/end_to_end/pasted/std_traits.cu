#include <limits>
#include <type_traits>
#include <algorithm>
#include <iostream>
template <typename T>
__device__ T lowest() { return std::numeric_limits<T>::lowest(); }
__global__ void clip(const float* x, float* y, int n) {
  static_assert(std::is_same<float, float>::value, "trivial");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > lowest<float>() ? fminf(x[i], 1.0f) : INFINITY;
}
int main() {
  int n = std::max(3, 4);
  clip<<<(n + 31) / 32, 32>>>(nullptr, nullptr, n);
  std::cout << n << std::endl;
}
