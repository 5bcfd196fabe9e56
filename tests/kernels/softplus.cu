// log(1 + e^x), linear where that overflows.
/* contract
{"args": ["in x float32[n] uniform low=-5 high=30", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong wrong_branch wrong_output: x[i] > 20.0f -> x[i] > 0.0f
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void softplus(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 20.0f ? x[i] : log1pf(expf(x[i]));
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)(log1p(exp((double)x[i])));
}
