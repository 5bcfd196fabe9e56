// Integers of 8 bits on tensor cores, sums exact.
/* contract
{"args": ["in a int8[16,32] uniform low=-100 high=100", "in b int8[8,32] uniform low=-100 high=100", "out c int32[16,8]"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong wrong_type wrong_output: s32.s8.s8.s32 -> s32.u8.s8.s32
// wrong partial_rows wrong_output: c[(g + 8) * 8 + t * 2] = d[2]; -> c[(g + 8) * 8 + t * 2] = 0;
__global__ void mma_int8(const signed char* a, const signed char* b, int* c) {
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
  int d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  c[g * 8 + t * 2] = d[0];
  c[g * 8 + t * 2 + 1] = d[1];
  c[(g + 8) * 8 + t * 2] = d[2];
  c[(g + 8) * 8 + t * 2 + 1] = d[3];
}
// reference
__global__ void reference(const signed char* a, const signed char* b, int* c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int s = 0;
      for (int k = 0; k < 32; ++k) s += a[i * 32 + k] * b[j * 32 + k];
      c[i * 8 + j] = s;
    }
}
