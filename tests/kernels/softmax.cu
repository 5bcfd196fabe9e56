// Softmax of each row, one block a row, three passes. Large inputs: without the maximum exp overflows.
/* contract
{"args": ["in x float32[rows,columns] randn mean=100 std=3", "out y float32[rows,columns]", "int rows = 5", "int columns = 150"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong no_maximum wrong_output: expf(row[c] - top) / sum -> expf(row[c]) / sum
// wrong partial_rows wrong_output: expf(row[c] - top) / sum -> expf(row[c] - top) / (blockIdx.x + 2 > gridDim.x ? 1.0f : sum)
// wrong missing_barrier wrong_output: __syncthreads();  // maxima ->
// wrong missing_barrier/sums wrong_output: __syncthreads();  // sums ->
// wrong missing_tail wrong_output: for (int c = t; c < columns; c += 64) sum += -> for (int c = t; c + 64 < columns; c += 64) sum +=
__global__ void softmax(const float* x, float* y, int rows, int columns) {
  __shared__ float maxima[64];
  __shared__ float sums[64];
  int t = threadIdx.x;
  const float* row = x + blockIdx.x * columns;
  float top = row[0];
  for (int c = t; c < columns; c += 64) top = fmaxf(top, row[c]);
  maxima[t] = top;
  __syncthreads();  // maxima
  for (int k = 0; k < 64; ++k) top = fmaxf(top, maxima[k]);
  float sum = 0.0f;
  for (int c = t; c < columns; c += 64) sum += expf(row[c] - top);
  sums[t] = sum;
  __syncthreads();  // sums
  sum = 0.0f;
  for (int k = 0; k < 64; ++k) sum += sums[k];
  for (int c = t; c < columns; c += 64) y[blockIdx.x * columns + c] = expf(row[c] - top) / sum;
}
// reference
__global__ void reference(const float* x, float* y, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0, top = -1e30;
    for (int c = 0; c < columns; ++c) top = x[r * columns + c] > top ? x[r * columns + c] : top;
    for (int c = 0; c < columns; ++c) sum += exp(x[r * columns + c] - top);
    for (int c = 0; c < columns; ++c) y[r * columns + c] = (float)(exp(x[r * columns + c] - top) / sum);
  }
}
