// x relu6(x + 3) / 6.
/* contract
{"args": ["in x float32[n] uniform low=-6 high=6", "out y float32[n] atol=1e-4 rtol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong no_ceiling wrong_output: 0.0f), 6.0f) -> 0.0f), 99.0f)
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void hard_swish(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * fminf(fmaxf(x[i] + 3.0f, 0.0f), 6.0f) / 6.0f;
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)((double)x[i] * (x[i] + 3.0 < 0 ? 0.0 : x[i] + 3.0 > 6 ? 6.0 : x[i] + 3.0) / 6.0);
}
