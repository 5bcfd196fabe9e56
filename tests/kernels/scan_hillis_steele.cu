// Inclusive scan of one block, double-buffered in shared memory.
/* contract
{"args": ["in x int32[n] uniform low=-9 high=20", "out y int32[n]", "int n = 200"],
 "launch": {"grid": 1, "block": 256}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // stepped ->
// wrong sub_for_add wrong_output: from[t] + from[t - d] -> from[t] - from[t - d]
// wrong wrong_stride wrong_output: d *= 2 -> d += 2
// wrong copy_of_input wrong_output: y[t] = from[t] -> y[t] = x[t]
__global__ void scan_hillis_steele(const int* x, int* y, int n) {
  __shared__ int buffers[2][256];
  int t = threadIdx.x;
  int* from = buffers[0];
  int* to = buffers[1];
  from[t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    to[t] = t >= d ? from[t] + from[t - d] : from[t];
    int* swap = from;
    from = to;
    to = swap;
    __syncthreads();  // stepped
  }
  if (t < n) y[t] = from[t];
}
// reference
__global__ void reference(const int* x, int* y, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) y[k] = sum += x[k];
}
