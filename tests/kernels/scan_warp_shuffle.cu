// Inclusive prefix sum of rows of 32 by shuffles.
/* contract
{"args": ["in x int32[rows,32] uniform low=-50 high=50", "out y int32[rows,32]", "int rows = 21"],
 "launch": {"grid": "ceildiv(rows, 4)", "block": [32, 4]}}
*/
// wrong wrong_condition wrong_output: threadIdx.x >= d -> threadIdx.x > d
// wrong partial_rows wrong_output: row < rows) -> row < rows / 4 * 4)
__global__ void scan_warp_shuffle(const int* x, int* y, int rows) {
  int row = blockIdx.x * 4 + threadIdx.y;
  if (row < rows) {
    int v = x[row * 32 + threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(~0u, v, d);
      if (threadIdx.x >= d) v += other;
    }
    y[row * 32 + threadIdx.x] = v;
  }
}
// reference
__global__ void reference(const int* x, int* y, int rows) {
  for (int r = 0; r < rows; ++r) {
    int sum = 0;
    for (int c = 0; c < 32; ++c) y[r * 32 + c] = sum += x[r * 32 + c];
  }
}
