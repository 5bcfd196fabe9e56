// C[b] = A[b] B[b]^T for a batch on the grid's z axis.
/* contract
{"args": ["in a float32[batch,m,k]", "in b float32[batch,n,k]", "out c float32[batch,m,n]",
          "int batch = 3", "int m = 9", "int n = 10", "int k = 12"],
 "launch": {"grid": ["ceildiv(n, 8)", "ceildiv(m, 8)", "batch"], "block": [8, 8]}}
*/
// wrong wrong_stride wrong_output: b += z * n * k -> b += z * m * k
// wrong missing_batch wrong_output: a += z * m * k; ->
// wrong not_transposed wrong_output: b[column * k + i] -> b[i * n + column]
// wrong swapped_arguments crashed: int m, int n, int k) -> int k, int n, int m)
// wrong partial_rows wrong_output+unwritten: int row = blockIdx.y * 8 + threadIdx.y; -> int row = blockIdx.y * 8 + threadIdx.y; if (row == m - 1) return;
__global__ void batched_matmul(const float* a, const float* b, float* c, int batch, int m, int n, int k) {
  int z = blockIdx.z;
  int row = blockIdx.y * 8 + threadIdx.y;
  int column = blockIdx.x * 8 + threadIdx.x;
  a += z * m * k;
  b += z * n * k;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum = fmaf(a[row * k + i], b[column * k + i], sum);
  c[(z * m + row) * n + column] = sum;
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int batch, int m, int n, int k) {
  for (int e = 0; e < batch * m * n; ++e) {
    int s = e % n, r = e / n % m, z = e / (m * n);
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += (double)a[z * m * k + r * k + i] * b[z * n * k + s * k + i];
    c[e] = (float)sum;
  }
}
