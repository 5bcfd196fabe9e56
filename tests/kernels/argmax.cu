// Index of each row's greatest value, the first if there are several; int64 out.
/* contract
{"args": ["in x float32[rows,columns]", "out index int64[rows]", "int rows = 90", "int columns = 150"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong missing_barrier passed+order_of_warps: __syncthreads();  // candidates ->
// wrong wrong_type wrong_output+unwritten: long long* index -> int* index
// wrong constant wrong_output: index[row] = where[0] -> index[row] = 0
// wrong wrong_comparison wrong_output: x[row * columns + c] > best -> x[row * columns + c] < best
// wrong missing_tail wrong_output: c < columns -> c < 128
__global__ void argmax(const float* x, long long* index, int rows, int columns) {
  __shared__ float value[64];
  __shared__ int where[64];
  int t = threadIdx.x, row = blockIdx.x;
  float best = x[row * columns + t];
  int at = t;
  for (int c = t + 64; c < columns; c += 64) {
    if (x[row * columns + c] > best) {
      best = x[row * columns + c];
      at = c;
    }
  }
  value[t] = best;
  where[t] = at;
  __syncthreads();  // candidates
  for (int s = 32; s > 0; s >>= 1) {
    if (t < s && (value[t + s] > value[t] || (value[t + s] == value[t] && where[t + s] < where[t]))) {
      value[t] = value[t + s];
      where[t] = where[t + s];
    }
    __syncthreads();
  }
  if (t == 0) index[row] = where[0];
}
// reference
__global__ void reference(const float* x, long long* index, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    long long found = 0;
    for (int c = 1; c < columns; ++c)
      if (x[r * columns + c] > x[r * columns + found]) found = c;
    index[r] = found;
  }
}
