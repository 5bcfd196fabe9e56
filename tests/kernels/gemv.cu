// y = A x + b, one block a row with a shuffle reduction across its warps.
/* contract
{"args": ["in a float32[rows,columns]", "in x float32[columns]", "in b float32[rows]", "out y float32[rows]",
          "int rows = 11", "int columns = 130"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong sub_for_add wrong_output: warp_sums[1] + b[row] -> warp_sums[1] - b[row]
// wrong missing_barrier wrong_output: __syncthreads(); ->
// wrong missing_tail wrong_output: j < columns; -> j < columns / 64 * 64;
// wrong partial_rows wrong_output+unwritten: int row = blockIdx.x; -> int row = blockIdx.x / 2;
// wrong wrong_type wrong_output: __shared__ float warp_sums -> __shared__ int warp_sums
__global__ void gemv(const float* a, const float* x, const float* b, float* y, int rows, int columns) {
  __shared__ float warp_sums[2];
  int row = blockIdx.x;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += a[row * columns + j] * x[j];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[row] = warp_sums[0] + warp_sums[1] + b[row];
}
// reference
__global__ void reference(const float* a, const float* x, const float* b, float* y, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double sum = b[r];
    for (int j = 0; j < columns; ++j) sum += (double)a[r * columns + j] * x[j];
    y[r] = (float)sum;
  }
}
