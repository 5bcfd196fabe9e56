// A source of several kernels; the metadata chooses the second.
/* contract
{"args": ["in x float32[n]", "out y float32[n]", "int n = 128"],
 "launch": {"grid": 1, "block": 128},
 "metadata": {"kernel_name": "cube"}}
*/
// wrong swapped_arguments wrong_output: return v * v * v -> return v * v
// wrong constant wrong_output: y[t] = cubed(x[t]) -> y[t] = 1.0f
// wrong unknown_kernel contract_invalid: __global__ void cube( -> __global__ void cubes(
// wrong launch_bounds launch_failed: __global__ void cube( -> __global__ void __launch_bounds__(64) cube(
// wrong shared_memory compile_failed: int t = threadIdx.x;  // cube -> __shared__ volatile float big[70000]; int t = threadIdx.x; big[t] = 1.0f;
__device__ float cubed(float v) { return v * v * v; }
__global__ void square(const float* x, float* y, int n) {
  int t = threadIdx.x;
  y[t] = x[t] * x[t];
}
__global__ void cube(const float* x, float* y, int n) {
  int t = threadIdx.x;  // cube
  y[t] = cubed(x[t]);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int k = 0; k < n; ++k) y[k] = (float)((double)x[k] * x[k] * x[k]);
}
