// One sum over the whole tensor in two stages: warps, then an atomic on a pre-zeroed output.
/* contract
{"args": ["in x int32[n] uniform low=-50 high=90", "out total int32[1] zeros", "int n = 3000"],
 "launch": {"grid": 4, "block": 128}}
*/
// wrong missing_barrier wrong_output: __syncthreads(); ->
// wrong constant wrong_output: atomicAdd(total, sum) -> *total = 61234
// wrong lost_updates wrong_output: atomicAdd(total, sum) -> *total = sum
// wrong wrong_stride wrong_output: i += gridDim.x * blockDim.x -> i += blockDim.x
// wrong sub_for_add wrong_output: sum += x[i] -> sum -= x[i]
__global__ void sum_atomic(const int* x, int* total, int n) {
  __shared__ int partial[4];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int m = 16; m > 0; m /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, m);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = partial[0] + partial[1] + partial[2] + partial[3];
    atomicAdd(total, sum);
  }
}
// reference
__global__ void reference(const int* x, int* total, int n) {
  long long sum = 0;
  for (int k = 0; k < n; ++k) sum += x[k];
  *total = (int)sum;
}
