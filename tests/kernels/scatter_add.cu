// y[index[i]] += x[i] into an inout tensor, with atomics since indices repeat.
/* contract
{"args": ["in x int32[n] uniform low=-100 high=100", "in index int32[n] uniform low=0 high=19", "inout y int32[20] uniform low=0 high=9",
          "int n = 200"],
 "launch": {"grid": 2, "block": 100}}
*/
// wrong lost_updates wrong_output: atomicAdd(&y[index[i]], x[i]) -> y[index[i]] += x[i]
// wrong sub_for_add wrong_output: atomicAdd(&y[index[i]], x[i]) -> atomicSub(&y[index[i]], x[i])
// wrong swapped_arguments crashed: const int* x, const int* index -> const int* index, const int* x
// wrong missing_tail wrong_output: i < n -> i < 192
__global__ void scatter_add(const int* x, const int* index, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[index[i]], x[i]);
}
// reference
__global__ void reference(const int* x, const int* index, int* y, int n) {
  for (int k = 0; k < n; ++k) y[index[k]] += x[k];
}
