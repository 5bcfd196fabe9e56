// C = A B, one thread per element; m, n and k differ so that swapped sizes show.
/* contract
{"args": ["in a float32[m,k]", "in b float32[k,n]", "out c float32[m,n]", "int m = 19", "int n = 35", "int k = 24"],
 "launch": {"grid": ["ceildiv(n, 16)", "ceildiv(m, 16)"], "block": [16, 16]}}
*/
// wrong swapped_arguments wrong_output+out_of_bounds_read: const float* a, const float* b -> const float* b, const float* a
// wrong wrong_stride wrong_output: a[row * k + i] -> a[row * m + i]
// wrong wrong_stride/transposed wrong_output: b[i * n + column] -> b[column * k + i]
// wrong partial_rows wrong_output+unwritten: row < m && -> row < m - 3 &&
// wrong sub_for_add wrong_output: sum += -> sum -=
// wrong missing_tail wrong_output: i < k; -> i < k - 1;
__global__ void sgemm_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
  }
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int r = 0; r < m; ++r) {
    for (int s = 0; s < n; ++s) {
      double sum = 0;
      for (int i = k - 1; i >= 0; --i) sum += (double)a[r * k + i] * b[i * n + s];
      c[r * n + s] = (float)sum;
    }
  }
}
