// GELU, the tanh form; the reference is the tanh form through exp in double.
/* contract
{"args": ["in x float32[n] randn std=2", "out y float32[n]", "int n = 640"],
 "launch": {"grid": 5, "block": 128}}
*/
// wrong constant wrong_output: 0.044715f -> 0.0f
// wrong sub_for_add wrong_output: 1.0f + tanhf -> 1.0f - tanhf
// wrong copy_of_input wrong_output: y[i] = gelu_of(x[i]) -> y[i] = x[i]
// wrong missing_tail wrong_output+unwritten: if (i < n) -> if (i < n - 1)
__device__ __forceinline__ float gelu_of(float v) {
  const float k = 0.7978845608f;
  return 0.5f * v * (1.0f + tanhf(k * (v + 0.044715f * v * v * v)));
}
__global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = gelu_of(x[i]);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int k = 0; k < n; ++k) {
    double v = x[k], u = 0.79788456080286536 * (v + 0.044715 * v * v * v);
    y[k] = (float)(v / (1.0 + exp(-2.0 * u)));
  }
}
