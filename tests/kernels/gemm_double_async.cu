// GEMM with cp.async double buffering.
/* contract
{"args": ["in a float32[64,64]", "in b float32[64,64]", "out c float32[64,64] atol=1e-3"], "launch": {"grid": [2,2], "block": [16,16]}}
*/
// wrong wrong_pipeline_stage wrong_output: sa[buf][threadIdx.y * 2 + i][k] -> sa[buf^1][threadIdx.y*2+i][k]
// wrong wrong_stride wrong_output: b + (k0 + r2) * 64 -> b + (k0 + r2) * 32
#include <cuda_pipeline.h>
__global__ void gemm(const float* a, const float* b, float* c) {
  __shared__ alignas(16) float sa[2][32][16], sb[2][16][32];
  int t = threadIdx.y * 16 + threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  auto load = [&](int buf, int k0) {
    if (t < 128) {
      int r = t / 4, cc = t % 4 * 4;
      __pipeline_memcpy_async(&sa[buf][r][cc], a + (row0 + r) * 64 + k0 + cc, 16);
      int r2 = t / 8, c2 = t % 8 * 4;
      __pipeline_memcpy_async(&sb[buf][r2][c2], b + (k0 + r2) * 64 + col0 + c2, 16);
    }
    __pipeline_commit();
  };
  float acc[2][2] = {};
  load(0, 0);
  for (int k0 = 0, buf = 0; k0 < 64; k0 += 16, buf ^= 1) {
    if (k0 + 16 < 64) {
      load(buf ^ 1, k0 + 16);
      __pipeline_wait_prior(1);
    } else
      __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          acc[i][j] += sa[buf][threadIdx.y * 2 + i][k] * sb[buf][k][threadIdx.x * 2 + j];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      c[(row0 + threadIdx.y * 2 + i) * 64 + col0 + threadIdx.x * 2 + j] = acc[i][j];
}
// reference
__global__ void reference(const float* a, const float* b, float* c) {
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) {
      double s = 0;
      for (int k = 0; k < 64; ++k) s += (double)a[i * 64 + k] * b[k * 64 + j];
      c[i * 64 + j] = (float)s;
    }
}
