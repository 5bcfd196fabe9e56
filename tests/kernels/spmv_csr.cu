// Sparse matrix times vector, rows of four.
/* contract
{"args": ["in values float32[n]", "in columns int32[n] uniform low=0 high=63", "in x float32[64]", "out y float32[rows] atol=1e-4", "int n = 400", "int rows = 100"],
 "launch": {"grid": "ceildiv(rows, 64)", "block": 64}}
*/
// tolerance: the order of the sum differs
// wrong wrong_column wrong_output: x[columns[k]] -> x[k % 64]
// wrong partial_rows wrong_output: row < rows) -> row < rows - 3)
__global__ void spmv_csr(const float* values, const int* columns, const float* x, float* y, int n, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float s = 0;
    for (int k = row * 4; k < row * 4 + 4; ++k) s += values[k] * x[columns[k]];
    y[row] = s;
  }
}
// reference
__global__ void reference(const float* values, const int* columns, const float* x, float* y, int n, int rows) {
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    for (int c = 0; c < 64; ++c)
      for (int k = 0; k < 4; ++k) if (columns[r * 4 + k] == c) s += (double)values[r * 4 + k] * x[c];
    y[r] = (float)s;
  }
}
