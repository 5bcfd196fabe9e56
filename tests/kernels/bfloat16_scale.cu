// bfloat16 in and out, float arithmetic; the reference shifts bits.
/* contract
{"args": ["in x bfloat16[n]", "out y bfloat16[n]", "float scale = 3.0", "int n = 300"],
 "launch": {"grid": 3, "block": 128}}
*/
// wrong sub_for_add wrong_output: + 1.0f -> - 1.0f
// wrong wrong_type wrong_output: const __nv_bfloat16* x -> const unsigned short* x
// wrong constant wrong_output: __bfloat162float(x[i]) -> 1.0f
// wrong missing_tail wrong_output+unwritten: if (i < n) -> if (i < n - n % 128)
#include <cuda_bf16.h>
__global__ void bfloat16_scale(const __nv_bfloat16* x, __nv_bfloat16* y, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * scale + 1.0f);
}
// reference
__global__ void reference(const unsigned short* x, unsigned short* y, float scale, int n) {
  for (int k = 0; k < n; ++k) {
    float wide = __uint_as_float((unsigned)x[k] << 16) * scale + 1.0f;
    unsigned bits = __float_as_uint(wide);
    y[k] = (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}
