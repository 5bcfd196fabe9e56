// Exclusive scan by up-sweep and down-sweep, two elements per thread, int64.
/* contract
{"args": ["in x int64[rows,128] uniform low=0 high=1000000000000", "out y int64[rows,128]", "int rows = 3"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // up ->
// wrong uninitialised wrong_output: if (t == 0) a[127] = 0; ->
// wrong wrong_type wrong_output: long long keep -> int keep
// wrong partial_rows wrong_output+unwritten: const long long* in = -> if (blockIdx.x + 1 == gridDim.x) return; const long long* in =
__global__ void scan_blelloch(const long long* x, long long* y, int rows) {
  __shared__ long long a[128];
  int t = threadIdx.x;
  const long long* in = x + blockIdx.x * 128;
  a[2 * t] = in[2 * t];
  a[2 * t + 1] = in[2 * t + 1];
  int offset = 1;
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();  // up
    if (t < d) a[offset * (2 * t + 2) - 1] += a[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) a[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      long long keep = a[left];
      a[left] = a[right];
      a[right] += keep;
    }
  }
  __syncthreads();
  y[blockIdx.x * 128 + 2 * t] = a[2 * t];
  y[blockIdx.x * 128 + 2 * t + 1] = a[2 * t + 1];
}
// reference
__global__ void reference(const long long* x, long long* y, int rows) {
  for (int r = 0; r < rows; ++r) {
    long long sum = 0;
    for (int k = 0; k < 128; ++k) {
      y[r * 128 + k] = sum;
      sum += x[r * 128 + k];
    }
  }
}
