#include <iostream>
#include <cstdint>
__global__ void copy4(const float4* src, float4* dst, uint32_t count) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) dst[i] = src[i];
}
static void usage(const char* name) { std::cerr << "usage: " << name << "\n"; }
int main() { copy4<<<1, 32>>>(nullptr, nullptr, 32); usage("x"); }
