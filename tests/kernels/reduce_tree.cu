// Sum of each block by a tree in shared memory.
/* contract
{"args": ["in x float32[n]", "out sums float32[blocks]", "int n = 2000", "int blocks = 8"],
 "launch": {"grid": "blocks", "block": 256}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // filled ->
// wrong missing_barrier/in_loop wrong_output: __syncthreads();  // halved ->
// wrong missing_tail wrong_output: i < n ? x[i] : 0.0f -> i + 256 < n ? x[i] : 0.0f
// wrong sub_for_add wrong_output: part[t] += part[t + s] -> part[t] -= part[t + s]
// wrong divergent_barrier timed_out: __syncthreads();  // filled -> if (t < 128) asm volatile("bar.sync 1;"); else asm volatile("bar.sync 2;");
__global__ void reduce_tree(const float* x, float* sums, int n, int blocks) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();  // filled
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();  // halved
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
// reference
__global__ void reference(const float* x, float* sums, int n, int blocks) {
  for (int b = 0; b < blocks; ++b) {
    double sum = 0;
    for (int k = b * 256; k < b * 256 + 256 && k < n; ++k) sum += x[k];
    sums[b] = (float)sum;
  }
}
