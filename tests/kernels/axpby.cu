// out = alpha * x - beta * y with two scalars: which is which matters.
/* contract
{"args": ["in x float32[n]", "in y float32[n]", "out z float32[n]", "float alpha = 1.75", "float beta = -0.3", "int n = 500"],
 "launch": {"grid": 2, "block": 64}}
*/
// wrong swapped_arguments wrong_output: float alpha, float beta -> float beta, float alpha
// wrong swapped_arguments/tensors wrong_output: const float* x, const float* y -> const float* y, const float* x
// wrong wrong_stride wrong_output+unwritten: i += gridDim.x * blockDim.x -> i += 2 * gridDim.x * blockDim.x
// wrong endless timed_out: i += gridDim.x * blockDim.x -> i += 0 * blockDim.x
__global__ void axpby(const float* x, const float* y, float* z, float alpha, float beta, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    z[i] = alpha * x[i] - beta * y[i];
  }
}
// reference
__global__ void reference(const float* x, const float* y, float* z, float, float, int n) {
  for (int k = 0; k < n; ++k) z[k] = (float)(1.75 * x[k] + 0.3 * y[k]);
}
