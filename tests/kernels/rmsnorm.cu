// RMS normalisation with a weight, one warp a row.
/* contract
{"args": ["in x float32[rows,columns]", "in weight float32[columns]", "out y float32[rows,columns]",
          "int rows = 6", "int columns = 80", "float epsilon = 1e-6"],
 "launch": {"grid": "rows", "block": 32}}
*/
// wrong sum_for_mean wrong_output: squares / columns + epsilon -> squares + epsilon
// wrong uninitialised wrong_output: y[at] = -> y[at] +=
// wrong copy_of_input wrong_output: x[at] * scale * weight[c] -> x[at]
// wrong wrong_stride wrong_output: row * columns + c -> c * rows + row
// wrong constant wrong_output: * weight[c] -> * 1.0f
__global__ void rmsnorm(const float* x, const float* weight, float* y, int rows, int columns, float epsilon) {
  int row = blockIdx.x;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += warpSize) squares += x[columns * row + c] * x[columns * row + c];
  for (int o = 16; o; o >>= 1) squares += __shfl_xor_sync(0xffffffff, squares, o);
  float scale = rsqrtf(squares / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += warpSize) {
    int at = row * columns + c;
    y[at] = x[at] * scale * weight[c];
  }
}
// reference
__global__ void reference(const float* x, const float* weight, float* y, int rows, int columns, float epsilon) {
  for (int r = 0; r < rows; ++r) {
    double squares = 0;
    for (int c = 0; c < columns; ++c) squares += (double)x[r * columns + c] * x[r * columns + c];
    double root = sqrt(squares / columns + 1e-6);
    for (int c = 0; c < columns; ++c) y[r * columns + c] = (float)(x[r * columns + c] / root * weight[c]);
  }
}
