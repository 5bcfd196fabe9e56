// |x|^p with p a scalar.
/* contract
{"args": ["in x float32[n]", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000", "float p = 1.75"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong wrong_base wrong_output: fabsf(x[i]), p -> fabsf(x[i]) + 1.0f, p
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void power(const float* x, float* y, int n, float p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = powf(fabsf(x[i]), p);
}
// reference
__global__ void reference(const float* x, float* y, int n, float p) {
  for (int i = 0; i < n; ++i) y[i] = (float)(pow(fabs((double)x[i]), 1.75));
}
