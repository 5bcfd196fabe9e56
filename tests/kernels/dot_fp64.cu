// Scaled dot products of rows in double; the scalar is a double too.
/* contract
{"args": ["in a float64[rows,columns]", "in b float64[rows,columns]", "out y float64[rows] rtol=1e-12 atol=1e-12", "float scale:double = 0.1", "int rows = 10", "int columns = 200"],
 "launch": {"grid": "rows", "block": 128}}
*/
// tolerance: partial sums in float would pass the default of 1e-7.
// wrong wrong_type wrong_output: double sum = 0 -> float sum = 0
// wrong wrong_type/scalar contract_invalid: double scale -> float scale
// wrong wrong_type/tensor wrong_output: const double* a -> const float* a
// wrong missing_barrier wrong_output: __syncthreads();  // filled ->
// wrong partial_rows wrong_output+unwritten: if (t == 0) -> if (t == 0 && blockIdx.x % 2 == 0)
// wrong sub_for_add wrong_output: part[t] += part[t + s] -> part[t] -= part[t + s]
__global__ void dot_fp64(const double* a, const double* b, double* y, double scale, int rows, int columns) {
  __shared__ double part[128];
  int t = threadIdx.x;
  double sum = 0;
  for (int c = t; c < columns; c += 128) sum += a[blockIdx.x * columns + c] * b[blockIdx.x * columns + c];
  part[t] = sum;
  __syncthreads();  // filled
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = scale * part[0];
}
// reference
__global__ void reference(const double* a, const double* b, double* y, double, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0, lost = 0;
    for (int c = 0; c < columns; ++c) {
      double term = a[r * columns + c] * b[r * columns + c] - lost, next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    y[r] = sum * 0.1;
  }
}
