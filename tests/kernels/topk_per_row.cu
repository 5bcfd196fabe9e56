// The three largest of each row, in order.
/* contract
{"args": ["in x float32[rows,40]", "out y float32[rows,3]", "int rows = 50"],
 "launch": {"grid": "ceildiv(rows, 64)", "block": 64}}
*/
// wrong ascending wrong_output: v > best[0] -> v < best[0]
// wrong partial_rows wrong_output: row >= rows -> row >= rows - 5
__global__ void topk_per_row(const float* x, float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best[3] = {-1e30f, -1e30f, -1e30f};
  for (int c = 0; c < 40; ++c) {
    float v = x[row * 40 + c];
    if (v > best[0]) { best[2] = best[1]; best[1] = best[0]; best[0] = v; }
    else if (v > best[1]) { best[2] = best[1]; best[1] = v; }
    else if (v > best[2]) best[2] = v;
  }
  for (int i = 0; i < 3; ++i) y[row * 3 + i] = best[i];
}
// reference
__global__ void reference(const float* x, float* y, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < 40; ++i) {
      int above = 0;
      for (int j = 0; j < 40; ++j) above += x[r * 40 + j] > x[r * 40 + i] || (x[r * 40 + j] == x[r * 40 + i] && j < i);
      if (above < 3) y[r * 3 + above] = x[r * 40 + i];
    }
}
