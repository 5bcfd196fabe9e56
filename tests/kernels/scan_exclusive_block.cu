// Exclusive prefix sum of one block by two levels of shuffles.
/* contract
{"args": ["in x int32[n] uniform low=0 high=9", "out y int32[n]", "int n = 512"],
 "launch": {"grid": 1, "block": 512}}
*/
// wrong inclusive wrong_output: v - own -> v
// wrong wrong_order wrong_output: before += sums[15 - w] -> before += sums[w]
__global__ void scan_exclusive_block(const int* x, int* y, int n) {
  __shared__ int sums[16];
  int t = threadIdx.x, own = x[t], v = own;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(~0u, v, d);
    if (t % 32 >= d) v += other;
  }
  if (t % 32 == 31) sums[15 - t / 32] = v;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < t / 32; ++w) before += sums[15 - w];
  y[t] = v - own + before;
}
// reference
__global__ void reference(const int* x, int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) { y[i] = sum; sum += x[i]; }
}
