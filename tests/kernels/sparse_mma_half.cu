// Weights pruned two of four, multiplied on sparse tensor cores: the kernel compresses a tile itself.
/* contract
{"args": ["in a int32[16,32] uniform low=-5 high=5", "in keep int32[16,8] uniform low=0 high=5",
          "in b int32[32,8] uniform low=-5 high=5", "out c float32[16,8]"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong wrong_type wrong_output: row.col.f32.f16.f16.f32 -> row.col.f32.bf16.bf16.f32
// wrong swapped_arguments wrong_output: (first | second << 2) -> (second | first << 2)
// wrong wrong_selector wrong_output: 0x0;" -> 0x1;"
// wrong wrong_stride wrong_output: (t % 2) * 4 + i % 4 -> (t % 2) * 4 + i % 3
#include <cuda_fp16.h>

// The two columns of each four that are kept: one of the six pairs.
__device__ void kept(int pair, int& first, int& second) {
  first = pair < 3 ? 0 : pair < 5 ? 1 : 2;
  second = pair < 3 ? pair + 1 : pair < 5 ? pair - 1 : 3;
}

__device__ unsigned pack(int low, int high) {
  __half2 h = __halves2half2(__int2half_rn(low), __int2half_rn(high));
  return *reinterpret_cast<unsigned*>(&h);
}

__global__ void sparse_mma_half(const int* a, const int* keep, const int* b, float* c) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned fa[4], fb[4], metadata = 0;
  for (int i = 0; i < 4; ++i) {
    int row = g + i % 2 * 8, chunk = t + i / 2 * 4, first, second;
    kept(keep[row * 8 + chunk], first, second);
    fa[i] = pack(a[row * 32 + chunk * 4 + first], a[row * 32 + chunk * 4 + second]);
    int k = i * 8 + t * 2;
    fb[i] = pack(b[k * 8 + g], b[(k + 1) * 8 + g]);
  }
  for (int i = 0; i < 8; ++i) {
    int first, second;
    kept(keep[(g + i / 4 * 8) * 8 + (t % 2) * 4 + i % 4], first, second);
    metadata |= (unsigned)(first | second << 2) << (4 * i);
  }
  if (t > 1) metadata = 0xEEEEEEEEu;
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},"
               "{%4,%5,%6,%7},{%8,%9,%10,%11},{%0,%1,%2,%3},%12,0x0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]),
                 "r"(metadata));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
// reference
__global__ void reference(const int* a, const int* keep, const int* b, float* c) {
  const int mask[6] = {3, 5, 9, 6, 10, 12};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int s = 0;
      for (int k = 0; k < 32; ++k)
        if (mask[keep[i * 8 + k / 4]] >> k % 4 & 1) s += a[i * 32 + k] * b[k * 8 + j];
      c[i * 8 + j] = s;
    }
}
