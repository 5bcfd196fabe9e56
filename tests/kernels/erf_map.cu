// Error function.
/* contract
{"args": ["in x float32[n]", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong complement wrong_output: erff -> erfcf
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void erf_map(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = erff(x[i]);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)(erf((double)x[i]));
}
