// Leaky ReLU with its slope as an argument, several elements per thread.
/* contract
{"args": ["in x float32[rows,columns]", "out y float32[rows,columns]", "float slope:float32 = 0.01", "int rows = 17", "int columns = 60"],
 "launch": {"grid": ["ceildiv(columns, 32)", "ceildiv(rows, 8)"], "block": [32, 8]}}
*/
// wrong swapped_arguments wrong_output: v > 0.0f ? v : slope * v -> v > 0.0f ? slope * v : v
// wrong partial_rows wrong_output+unwritten: r < rows -> r < rows - 1
// wrong wrong_stride crashed: r * columns + c -> c * columns + r
// wrong wrong_type contract_invalid: float slope -> double slope
// wrong copy_of_input wrong_output: ? v : slope * v -> ? v : v
__global__ void leaky_relu(const float* x, float* y, float slope, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) {
    int at = r * columns + c;
    float v = x[at];
    y[at] = v > 0.0f ? v : slope * v;
  }
}
// reference
__global__ void reference(const float* x, float* y, float slope, int rows, int columns) {
  for (int k = 0; k < rows * columns; ++k) y[k] = x[k] - (x[k] < 0 ? x[k] * (1.0f - slope) : 0.0f);
}
