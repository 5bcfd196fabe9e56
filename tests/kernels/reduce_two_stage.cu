// Block sums by shuffles, then one atomic per block.
/* contract
{"args": ["in x float32[n]", "inout total float32[1] uniform low=1 high=2 atol=1e-2", "int n = 6000"],
 "launch": {"grid": 8, "block": 256}}
*/
// tolerance: the order of the sum differs
// wrong missing_warps wrong_output: blockDim.x / 32 -> blockDim.x / 64
// wrong wrong_stride wrong_output: d /= 2) v += -> d /= 4) v +=
__global__ void reduce_two_stage(const float* x, float* total, int n) {
  __shared__ float sums[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    float w = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f;
    for (int d = 16; d > 0; d /= 2) w += __shfl_down_sync(~0u, w, d);
    if (threadIdx.x == 0) atomicAdd(total, w);
  }
}
// reference
__global__ void reference(const float* x, float* total, int n) {
  double s = total[0];
  for (int i = 0; i < n; ++i) s += x[i];
  total[0] = (float)s;
}
