// One mma.sync by inline PTX with fragments loaded by hand (bfloat16).
/* contract
{"args": ["in a bfloat16[16,16] uniform low=-2 high=2", "in b bfloat16[8,16] uniform low=-2 high=2", "out c float32[16,8] atol=1e-2 rtol=1e-2"],
 "launch": {"grid": 1, "block": 32}}
*/
// tolerance: tensor cores add in an order and width of their own
// wrong swapped_arguments wrong_output: fa[1] = a32[(g + 8) * 8 + t]; -> fa[1] = a32[g * 8 + t + 4];
// wrong partial_rows wrong_output: c[(g + 8) * 8 + t * 2] = d[2]; -> c[(g + 8) * 8 + t * 2] = d[0];
#include <cuda_bf16.h>
__global__ void mma_bfloat16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned fa[4], fb[2];
  const unsigned* a32 = (const unsigned*)a;
  const unsigned* b32 = (const unsigned*)b;
  fa[0] = a32[g * 8 + t];
  fa[1] = a32[(g + 8) * 8 + t];
  fa[2] = a32[g * 8 + t + 4];
  fa[3] = a32[(g + 8) * 8 + t + 4];
  fb[0] = b32[g * 8 + t];
  fb[1] = b32[g * 8 + t + 4];
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  c[g * 8 + t * 2] = d[0];
  c[g * 8 + t * 2 + 1] = d[1];
  c[(g + 8) * 8 + t * 2] = d[2];
  c[(g + 8) * 8 + t * 2 + 1] = d[3];
}
// reference
#include <cuda_bf16.h>
__global__ void reference(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double s = 0;
      for (int k = 0; k < 16; ++k) s += (double)__bfloat162float(a[i * 16 + k]) * (double)__bfloat162float(b[j * 16 + k]);
      c[i * 8 + j] = (float)s;
    }
}
