// C = alpha A B + beta C with tiles in shared memory and guarded edges.
/* contract
{"args": ["in a float32[m,k]", "in b float32[k,n]", "inout c float32[m,n]", "int m = 20", "int n = 37", "int k = 27",
          "float alpha = 0.5", "float beta = -1.25"],
 "launch": {"grid": ["ceildiv(n, 16)", "ceildiv(m, 16)"], "block": [16, 16]}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // filled ->
// wrong missing_barrier/used passed+order_of_warps: __syncthreads();  // used ->
// wrong swapped_arguments wrong_output: alpha * sum + beta * c[row * n + column] -> beta * sum + alpha * c[row * n + column]
// wrong missing_tail wrong_output: (k + 15) / 16 -> k / 16
// wrong partial_rows wrong_output: if (row < m && column < n) -> if (row < m / 16 * 16 && column < n)
__global__ void sgemm_tiled(const float* a, const float* b, float* c, int m, int n, int k, float alpha, float beta) {
  __shared__ float as[16][16];
  __shared__ float bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int tile = 0; tile < (k + 15) / 16; ++tile) {
    int ka = tile * 16 + tx, kb = tile * 16 + ty;
    as[ty][tx] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    bs[ty][tx] = kb < k && column < n ? b[kb * n + column] : 0.0f;
    __syncthreads();  // filled
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();  // used
  }
  if (row < m && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int m, int n, int k, float alpha, float beta) {
  for (int r = 0; r < m; ++r) {
    for (int s = 0; s < n; ++s) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += (double)a[r * k + i] * b[i * n + s];
      c[r * n + s] = (float)(0.5 * sum - 1.25 * c[r * n + s]);
    }
  }
}
