// x, or alpha (e^x - 1) below zero.
/* contract
{"args": ["in x float32[n]", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000", "float alpha = 0.5"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong missing_scale wrong_output: alpha * expm1f -> expm1f
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void elu(const float* x, float* y, int n, float alpha) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : alpha * expm1f(x[i]);
}
// reference
__global__ void reference(const float* x, float* y, int n, float alpha) {
  for (int i = 0; i < n; ++i) y[i] = (float)(x[i] > 0 ? (double)x[i] : 0.5 * (exp((double)x[i]) - 1));
}
