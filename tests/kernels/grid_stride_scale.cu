// Scale with a grid-stride loop and fewer threads than elements.
/* contract
{"args": ["in x float32[n]", "out y float32[n]", "int n = 5000", "float a = 3.5"],
 "launch": {"grid": 4, "block": 128}}
*/
// wrong wrong_stride wrong_output: i += gridDim.x * blockDim.x -> i += gridDim.x * blockDim.x * 2
// wrong missing_tail wrong_output: i < n; -> i < n - 7;
__global__ void grid_stride_scale(const float* x, float* y, int n, float a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i];
}
// reference
__global__ void reference(const float* x, float* y, int n, float a) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i];
}
