#include <cuda_runtime.h>
#include <functional>
#define DEFINE_BINARY(name, op)                                              \
  __global__ void name##_kernel(const float* a, const float* b, float* c, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                           \
    if (i < n) c[i] = a[i] op b[i];                                          \
  }
DEFINE_BINARY(add, +)
DEFINE_BINARY(mul, *)
std::function<void()> callback;
void run(float* a, float* b, float* c, int n) { add_kernel<<<n / 256 + 1, 256>>>(a, b, c, n); }
