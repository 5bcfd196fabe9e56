// Layer norm of rows by one warp each, with weight and bias.
/* contract
{"args": ["in x float32[rows,columns]", "in w float32[columns]", "in b float32[columns]", "out y float32[rows,columns] atol=1e-3 rtol=1e-3", "int rows = 19", "int columns = 96"],
 "launch": {"grid": "ceildiv(rows, 4)", "block": 128}}
*/
// tolerance: variance by squares in single precision
// wrong missing_mean wrong_output: (x[row * columns + c] - mean) * inv -> x[row * columns + c] * inv
// wrong wrong_stride wrong_output: * w[c] + b[c] -> * w[lane] + b[c]
__global__ void layernorm_warp(const float* x, const float* w, const float* b, float* y, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0, q = 0;
  for (int c = lane; c < columns; c += 32) { float v = x[row * columns + c]; s += v; q += v * v; }
  for (int d = 16; d > 0; d /= 2) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
  float mean = s / columns, inv = rsqrtf(q / columns - mean * mean + 1e-5f);
  for (int c = lane; c < columns; c += 32) y[row * columns + c] = (x[row * columns + c] - mean) * inv * w[c] + b[c];
}
// reference
__global__ void reference(const float* x, const float* w, const float* b, float* y, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double m = 0, v = 0;
    for (int c = 0; c < columns; ++c) m += x[r * columns + c];
    m /= columns;
    for (int c = 0; c < columns; ++c) v += (x[r * columns + c] - m) * (x[r * columns + c] - m);
    v /= columns;
    for (int c = 0; c < columns; ++c) y[r * columns + c] = (float)((x[r * columns + c] - m) / sqrt(v + 1e-5) * w[c] + b[c]);
  }
}
