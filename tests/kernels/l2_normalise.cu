// Rows divided by their Euclidean norm, in place, one block a row.
/* contract
{"args": ["inout x float32[rows,columns]", "float epsilon = 1e-6", "int rows = 6", "int columns = 70"],
 "launch": {"grid": "rows", "block": 128}}
*/
// wrong partial_rows wrong_output: float* row = -> if (blockIdx.x == rows - 1) return; float* row =
// wrong missing_barrier wrong_output: __syncthreads();  // squares ->
// wrong missing_root wrong_output: rsqrtf(squares[0] + epsilon) -> 1.0f / (squares[0] + epsilon)
// wrong copy_of_input wrong_output: row[t] * scale -> row[t]
__global__ void l2_normalise(float* x, float epsilon, int rows, int columns) {
  __shared__ float squares[128];
  int t = threadIdx.x;
  float* row = x + blockIdx.x * columns;
  squares[t] = t < columns ? row[t] * row[t] : 0.0f;
  __syncthreads();  // squares
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) squares[t] += squares[t + s];
    __syncthreads();
  }
  float scale = rsqrtf(squares[0] + epsilon);
  if (t < columns) row[t] = row[t] * scale;
}
// reference
__global__ void reference(float* x, float epsilon, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double squares = epsilon;
    for (int c = 0; c < columns; ++c) squares += (double)x[r * columns + c] * x[r * columns + c];
    for (int c = 0; c < columns; ++c) x[r * columns + c] = (float)(x[r * columns + c] / sqrt(squares));
  }
}
