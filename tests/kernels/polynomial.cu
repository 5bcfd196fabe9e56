// Horner's rule, fused.
/* contract
{"args": ["in x float32[n]", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong sub_for_add wrong_output: x[i], 2.0f) -> x[i], -2.0f)
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void polynomial(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf(fmaf(fmaf(0.25f, x[i], -1.5f), x[i], 2.0f), x[i], 0.5f);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)(0.25 * x[i] * x[i] * x[i] - 1.5 * (double)x[i] * x[i] + 2.0 * x[i] + 0.5);
}
