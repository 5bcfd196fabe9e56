#ifndef KERNEL_CU
#define KERNEL_CU
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>
#ifdef __cplusplus
#include <vector>
#endif
#if defined(USE_DOUBLE)
typedef double real;
#else
typedef float real;
#endif
__global__ void axpy(real a, const real* x, real* y, unsigned int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
#ifdef __cplusplus
inline void axpy_host(real a, const std::vector<real>& x, std::vector<real>& y) {
  for (size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}
#endif
#endif
