// sin and cos by the fast instructions, in their range.
/* contract
{"args": ["in x float32[n] uniform low=-3 high=3", "out y float32[n] atol=1e-4", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// tolerance: approximations of single precision against double precision
// wrong wrong_function wrong_output: __cosf -> __sinf
// wrong missing_tail wrong_output: if (i < n) -> if (i < n / 256 * 256)
__global__ void fast_sine(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __sinf(x[i]) * __cosf(x[i]);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = (float)(sin((double)x[i]) * cos((double)x[i]));
}
