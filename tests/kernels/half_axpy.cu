// Packed half arithmetic; the reference reads the bits through PTX conversions.
/* contract
{"args": ["in x float16[n]", "in y float16[n]", "out z float16[n]", "float alpha = 0.5", "int n = 514"],
 "launch": {"grid": 3, "block": 96}}
*/
// wrong sub_for_add wrong_output: __hfma2(a, x[i], y[i]) -> __hfma2(a, x[i], __hneg2(y[i]))
// wrong missing_tail wrong_output+unwritten: i < n / 2 -> i < n / 2 - 1
// wrong swapped_arguments wrong_output: __hfma2(a, x[i], y[i]) -> __hfma2(a, y[i], x[i])
// wrong copy_of_input wrong_output: __hfma2(a, x[i], y[i]) -> x[i]
#include <cuda_fp16.h>
__global__ void half_axpy(const __half2* x, const __half2* y, __half2* z, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 a = __float2half2_rn(alpha);
  if (i < n / 2) z[i] = __hfma2(a, x[i], y[i]);
}
// reference
__device__ float wide(unsigned short bits) {
  float f;
  asm("{.reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h;}" : "=f"(f) : "h"(bits));
  return f;
}
__device__ unsigned short narrow(float f) {
  unsigned short bits;
  asm("{.reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h;}" : "=h"(bits) : "f"(f));
  return bits;
}
__global__ void reference(const unsigned short* x, const unsigned short* y, unsigned short* z, float alpha, int n) {
  for (int k = 0; k < n; ++k) z[k] = narrow(alpha * wide(x[k]) + wide(y[k]));
}
