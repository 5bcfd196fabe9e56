// 16x8x16 product: ldmatrix from shared memory, then mma.
/* contract
{"args": ["in a float16[16,16] uniform low=-2 high=2", "in b float16[16,8] uniform low=-2 high=2", "out c float32[16,8] atol=1e-2 rtol=1e-2"],
 "launch": {"grid": 1, "block": 32}}
*/
// tolerance: tensor cores add in an order and width of their own
// wrong not_transposed wrong_output: m8n8.x2.trans -> m8n8.x2
// wrong missing_barrier/half wrong_output: i < 256; -> i < 128;
#include <cuda_fp16.h>
__global__ void ldmatrix_gemm(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half as[16 * 16], bs[16 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) as[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) bs[i] = b[i];
  __syncthreads();
  unsigned lane = threadIdx.x, fa[4], fb[2];
  unsigned pa = (unsigned)__cvta_generic_to_shared(as + lane % 16 * 16 + lane / 16 * 8);
  unsigned pb = (unsigned)__cvta_generic_to_shared(bs + lane % 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(pb));
  float d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
// reference
#include <cuda_fp16.h>
__global__ void reference(const __half* a, const __half* b, float* c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double s = 0;
      for (int k = 0; k < 16; ++k) s += (double)__half2float(a[i * 16 + k]) * (double)__half2float(b[k * 8 + j]);
      c[i * 8 + j] = (float)s;
    }
}
