// 64 bins: shared atomics per block, then global ones; the counts are pre-zeroed.
/* contract
{"args": ["in x uint8[n] uniform low=0 high=63", "out bins uint32[64] zeros", "int n = 5000"],
 "launch": {"grid": 3, "block": 96},
 "reference_launch": {"grid": 1, "block": 64}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // counted ->
// wrong missing_tail wrong_output: i < n; -> i < n / 96 * 96;
// wrong lost_updates wrong_output: atomicAdd(&bins[b], local[b]) -> bins[b] = local[b]
// wrong lost_updates/shared wrong_output: atomicAdd(&local[x[i]], 1u) -> local[x[i]] = local[x[i]] + 1u
// wrong constant wrong_output: atomicAdd(&bins[b], local[b]) -> bins[b] = 78
__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();  // counted
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
// reference
__global__ void reference(const unsigned char* x, unsigned* bins, int n) {
  unsigned count = 0;
  for (int k = 0; k < n; ++k) count += x[k] == threadIdx.x;
  bins[threadIdx.x] = count;
}
