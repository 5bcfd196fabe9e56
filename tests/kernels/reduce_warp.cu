// Sum of rows by warp shuffles, one warp a row.
/* contract
{"args": ["in x float32[rows,columns]", "out sums float32[rows]", "int rows = 13", "int columns = 100"],
 "launch": {"grid": "ceildiv(rows, 4)", "block": [32, 4]}}
*/
// wrong partial_rows wrong_output+unwritten: row < rows -> row < rows - 1
// wrong wrong_stride wrong_output: c += 32 -> c += 33
// wrong missing_lanes wrong_output: offset = 16 -> offset = 8
// wrong sub_for_add wrong_output: sum += __shfl_down_sync -> sum -= __shfl_down_sync
// wrong wrong_type wrong_output: float sum = 0.0f -> int sum = 0
__global__ void reduce_warp(const float* x, float* sums, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  int lane = threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = lane; c < columns; c += 32) sum += x[row * columns + c];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) sums[row] = sum;
  }
}
// reference
__global__ void reference(const float* x, float* sums, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = columns - 1; c >= 0; --c) sum += x[r * columns + c];
    sums[r] = (float)sum;
  }
}
