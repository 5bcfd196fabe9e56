// x tanh(softplus(x)).
/* contract
{"args": ["in x float32[n]", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong wrong_function wrong_output: tanhf -> erff
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void mish(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * tanhf(log1pf(expf(x[i])));
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)((double)x[i] * tanh(log(1 + exp((double)x[i]))));
}
