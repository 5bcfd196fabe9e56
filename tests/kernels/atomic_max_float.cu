// Maximum over everything by compare-and-swap on the bits of a float that starts at -inf.
/* contract
{"args": ["in x float32[n] randn mean=-20 std=5", "out top float32[1] full fill_value=-1e30", "int n = 500"],
 "launch": {"grid": 2, "block": 256}}
*/
// wrong min_for_max wrong_output: x[i] <= __int_as_float(seen) -> x[i] >= __int_as_float(seen) && seen != __float_as_int(-1e30f)
// wrong wrong_sign wrong_output: __float_as_int(x[i])) -> __float_as_int(-x[i]))
// wrong wrong_type wrong_output: __float_as_int(x[i])) -> (int)x[i])
// wrong missing_tail wrong_output: i < n -> i < 100
__global__ void atomic_max_float(const float* x, float* top, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int* cell = (int*)top;
    int seen = *cell, assumed;
    do {
      assumed = seen;
      if (x[i] <= __int_as_float(seen)) break;
      seen = atomicCAS(cell, assumed, __float_as_int(x[i]));
    } while (seen != assumed);
  }
}
// reference
__global__ void reference(const float* x, float* top, int n) {
  for (int k = 0; k < n; ++k) *top = x[k] > *top ? x[k] : *top;
}
