// Smallest and largest of each row, one warp per row.
/* contract
{"args": ["in x float32[rows,columns]", "out low float32[rows]", "out high float32[rows]", "int rows = 37", "int columns = 100"],
 "launch": {"grid": "ceildiv(rows, 4)", "block": 128}}
*/
// wrong wrong_start wrong_output: most = -3e38f -> most = 4.5f
// wrong missing_tail wrong_output: c < columns; -> c < columns / 32 * 32;
__global__ void min_max_rows(const float* x, float* low, float* high, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float least = 3e38f, most = -3e38f;
  for (int c = lane; c < columns; c += 32) {
    least = fminf(least, x[row * columns + c]);
    most = fmaxf(most, x[row * columns + c]);
  }
  for (int d = 16; d > 0; d /= 2) {
    least = fminf(least, __shfl_xor_sync(~0u, least, d));
    most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  }
  if (lane == 0) { low[row] = least; high[row] = most; }
}
// reference
__global__ void reference(const float* x, float* low, float* high, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    low[r] = high[r] = x[r * columns];
    for (int c = 1; c < columns; ++c) {
      float v = x[r * columns + c];
      if (v < low[r]) low[r] = v;
      if (v > high[r]) high[r] = v;
    }
  }
}
