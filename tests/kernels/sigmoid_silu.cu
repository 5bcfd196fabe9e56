// Two outputs of one pass: sigmoid and SiLU.
/* contract
{"args": ["in x float32[n]", "out sigmoid float32[n]", "out silu float32[n]", "int n = 333"],
 "launch": {"grid": 3, "block": 128}}
*/
// wrong swapped_arguments wrong_output: float* sigmoid, float* silu -> float* silu, float* sigmoid
// wrong uninitialised wrong_output+unwritten: silu[i] = v * s; ->
// wrong sub_for_add wrong_output: 1.0f + expf(-v) -> 1.0f - expf(-v)
// wrong wrong_sign wrong_output: expf(-v) -> expf(v)
__global__ void sigmoid_silu(const float* x, float* sigmoid, float* silu, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    float s = 1.0f / (1.0f + expf(-v));
    sigmoid[i] = s;
    silu[i] = v * s;
  }
}
// reference
__global__ void reference(const float* x, float* sigmoid, float* silu, int n) {
  for (int k = 0; k < n; ++k) {
    double s = 0.5 + 0.5 * tanh(0.5 * (double)x[k]);
    sigmoid[k] = (float)s;
    silu[k] = (float)(s * x[k]);
  }
}
