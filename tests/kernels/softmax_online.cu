// Softmax by one warp a row: maximum and sum in one pass, rescaled when a greater maximum is met.
/* contract
{"args": ["in x float32[rows,columns] randn std=8", "out y float32[rows,columns]", "int rows = 7", "int columns = 90"],
 "launch": {"grid": "ceildiv(rows, 4)", "block": 128}}
*/
// wrong no_rescaling wrong_output: s * expf(m - up) + expf(v - up) -> s + expf(v - up)
// wrong partial_rows wrong_output+unwritten: row >= rows -> row >= rows - 2
// wrong wrong_stride wrong_output: c += 32) { -> c += 64) {
// wrong missing_lanes wrong_output: o = 1; o < 32 -> o = 2; o < 32
__global__ void softmax_online(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  float m = -1e30f, s = 0.0f;
  for (int c = lane; c < columns; c += 32) {
    float v = x[c], up = fmaxf(m, v);
    s = s * expf(m - up) + expf(v - up);
    m = up;
    y[c] = v;
  }
  for (int o = 1; o < 32; o *= 2) {
    float m2 = __shfl_xor_sync(~0u, m, o), s2 = __shfl_xor_sync(~0u, s, o);
    float up = fmaxf(m, m2);
    s = s * expf(m - up) + s2 * expf(m2 - up);
    m = up;
  }
  for (int c = lane; c < columns; c += 32) y[c] = expf(y[c] - m) / s;
}
// reference
__global__ void reference(const float* x, float* y, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (int k = 0; k < columns; ++k) sum += exp((double)x[r * columns + k] - x[r * columns + c]);
      y[r * columns + c] = (float)(1 / sum);
    }
  }
}
