// The tensor instruction of Volta: four 8x8 products of eight lanes each, summed over a longer row.
/* contract
{"args": ["in a int32[32,16] uniform low=-6 high=6", "in b int32[8,16] uniform low=-6 high=6", "out c float32[32,8]"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong wrong_stride wrong_output: (quad * 8 + own) * 16 + k -> (quad * 8 + own % 4) * 16 + k
// wrong partial_rows wrong_output: k < 16 -> k < 12
// wrong wrong_layout wrong_output: m8n8k4.row.col -> m8n8k4.row.row
#include <cuda_fp16.h>

__device__ unsigned two(const int* p) {
  __half2 h = __halves2half2(__int2half_rn(p[0]), __int2half_rn(p[1]));
  return *reinterpret_cast<unsigned*>(&h);
}

__global__ void mma_quads(const int* a, const int* b, float* c) {
  int lane = threadIdx.x, quad = lane % 16 / 4, own = lane % 4 + (lane < 16 ? 0 : 4);
  float d[8] = {};
  for (int k = 0; k < 16; k += 4) {
    const int* x = a + (quad * 8 + own) * 16 + k;
    const int* y = b + own * 16 + k;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},"
                 "{%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "r"(two(x)), "r"(two(x + 2)), "r"(two(y)), "r"(two(y + 2)));
  }
  for (int i = 0; i < 8; ++i) {
    int row = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), column = (i & 4) + (lane & 2) + (i & 1);
    c[(quad * 8 + row) * 8 + column] = d[i];
  }
}
// reference
__global__ void reference(const int* a, const int* b, float* c) {
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 8; ++j) {
      int s = 0;
      for (int k = 0; k < 16; ++k) s += a[i * 16 + k] * b[j * 16 + k];
      c[i * 8 + j] = s;
    }
}
