// Matrix product in double precision.
/* contract
{"args": ["in a float64[m,k]", "in b float64[k,n]", "out c float64[m,n] atol=1e-10", "int m = 17", "int n = 23", "int k = 29"],
 "launch": {"grid": ["ceildiv(n, 8)", "ceildiv(m, 8)"], "block": [8, 8]}}
*/
// tolerance: the order of the sum differs
// wrong wrong_type wrong_output: double sum -> float sum
// wrong partial_rows wrong_output: r < m -> r < m - 1
__global__ void dgemm(const double* a, const double* b, double* c, int m, int n, int k) {
  int r = blockIdx.y * 8 + threadIdx.y, s = blockIdx.x * 8 + threadIdx.x;
  if (r < m && s < n) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += a[r * k + i] * b[i * n + s];
    c[r * n + s] = sum;
  }
}
// reference
__global__ void reference(const double* a, const double* b, double* c, int m, int n, int k) {
  for (int r = 0; r < m; ++r)
    for (int s = 0; s < n; ++s) {
      double sum = 0;
      for (int i = k - 1; i >= 0; --i) sum += a[r * k + i] * b[i * n + s];
      c[r * n + s] = sum;
    }
}
