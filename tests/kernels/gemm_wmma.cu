// C = A B on tensor cores: halves in, floats summed.
/* contract
{"args": ["in a float16[m,k] uniform low=-1 high=1", "in b float16[k,n] uniform low=-1 high=1", "out c float32[m,n] atol=1e-2 rtol=1e-2", "int m = 48", "int n = 32", "int k = 64"],
 "launch": {"grid": ["n / 16", "m / 16"], "block": 32}}
*/
// tolerance: tensor cores add in an order and width of their own
// wrong wrong_stride wrong_output: (fa, a + row * k + t, k) -> (fa, a + row * k + t, n)
// wrong partial_rows wrong_output: t < k; -> t < k / 2;
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void gemm_wmma(const __half* a, const __half* b, float* c, int m, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int t = 0; t < k; t += 16) {
    wmma::load_matrix_sync(fa, a + row * k + t, k);
    wmma::load_matrix_sync(fb, b + t * n + column, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
// reference
#include <cuda_fp16.h>
__global__ void reference(const __half* a, const __half* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int t = 0; t < k; ++t) s += (double)__half2float(a[i * k + t]) * (double)__half2float(b[t * n + j]);
      c[i * n + j] = (float)s;
    }
}
