// Histogram per block in shared memory, added up globally.
/* contract
{"args": ["in x uint8[n] uniform low=0 high=63", "inout bins int32[64] uniform low=0 high=5", "int n = 3000"],
 "launch": {"grid": 4, "block": 128}}
*/
// wrong missing_zero wrong_output: local[t] = 0; -> local[t] = 1;
// wrong missing_tail wrong_output: i < n; -> i < n - 500;
__global__ void histogram_shared(const unsigned char* x, int* bins, int n) {
  __shared__ int local[64];
  int t = threadIdx.x;
  if (t < 64) local[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1);
  __syncthreads();
  if (t < 64) atomicAdd(&bins[t], local[t]);
}
// reference
__global__ void reference(const unsigned char* x, int* bins, int n) {
  for (int i = 0; i < n; ++i) bins[x[i]] += 1;
}
