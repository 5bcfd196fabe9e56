// Inline PTX: lane id, byte permutation, bit-field extraction, fused multiply-add, a predicate.
/* contract
{"args": ["in x uint32[n]", "out y uint32[n]", "out z float32[n]", "int n = 160"],
 "launch": {"grid": 2, "block": 96}}
*/
// wrong wrong_permutation wrong_output: 0x0123 -> 0x3210
// wrong wrong_field wrong_output: bfe.u32 %0, %1, 5, 7 -> bfe.u32 %0, %1, 5, 6
// wrong wrong_type wrong_output: bfe.u32 %0 -> bfe.s32 %0
// wrong missing_tail wrong_output+unwritten: if (i >= n) -> if (i >= 96)
// wrong sub_for_add wrong_output: add.u32 %0, %1, %2 -> sub.u32 %0, %1, %2
// wrong constant wrong_output: mov.u32 %0, %laneid -> mov.u32 %0, 3
__global__ void inline_ptx(const unsigned* x, unsigned* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned lane, swapped, field, sum;
  float fused;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(swapped) : "r"(x[i]));
  asm("bfe.u32 %0, %1, 5, 7;" : "=r"(field) : "r"(x[i]));
  asm("add.u32 %0, %1, %2;" : "=r"(sum) : "r"(swapped), "r"(lane));
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(fused) : "f"((float)field), "f"(0.125f), "f"(1.0f));
  asm("{.reg .pred p; setp.gt.u32 p, %1, 64; @p add.f32 %0, %0, 0f42C80000;}" : "+f"(fused) : "r"(field));
  y[i] = sum;
  z[i] = fused;
}
// reference
__global__ void reference(const unsigned* x, unsigned* y, float* z, int n) {
  for (int k = 0; k < n; ++k) {
    unsigned v = x[k];
    y[k] = (v << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | v >> 24) + k % 96 % 32;
    unsigned field = v / 32 % 128;
    z[k] = field / 8.0f + 1 + (field > 64 ? 100 : 0);
  }
}
