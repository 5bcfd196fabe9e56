// Matrix product of halves, summed in floats.
/* contract
{"args": ["in a float16[m,k]", "in b float16[k,n]", "out c float16[m,n] atol=2e-2 rtol=1e-2", "int m = 20", "int n = 24", "int k = 32"],
 "launch": {"grid": ["ceildiv(n, 8)", "ceildiv(m, 8)"], "block": [8, 8]}}
*/
// tolerance: results are halves
// wrong sub_for_add wrong_output: sum += __half2float -> sum -= __half2float
// wrong partial_rows wrong_output: r < m && -> r < m - 2 &&
#include <cuda_fp16.h>
__global__ void hgemm(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  int r = blockIdx.y * 8 + threadIdx.y, s = blockIdx.x * 8 + threadIdx.x;
  if (r < m && s < n) {
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += __half2float(a[r * k + i]) * __half2float(b[i * n + s]);
    c[r * n + s] = __float2half(sum);
  }
}
// reference
#include <cuda_fp16.h>
__global__ void reference(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  for (int r = 0; r < m; ++r)
    for (int s = 0; s < n; ++s) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += (double)__half2float(a[r * k + i]) * (double)__half2float(b[i * n + s]);
      c[r * n + s] = __float2half_rn((float)sum);
    }
}
