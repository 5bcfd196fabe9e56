// Distance to the nearest whole number.
/* contract
{"args": ["in x float32[n] uniform low=-9 high=9", "out y float32[n] atol=1e-5", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong truncates wrong_output: rintf -> truncf
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void fraction(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fabsf(x[i] - rintf(x[i]));
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)(fabs((double)x[i] - nearbyint((double)x[i])));
}
