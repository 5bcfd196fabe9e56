// ReLU over a grid-stride loop with fewer threads than elements.
/* contract
{"args": ["in x float32[n]", "out y float32[n]", "int n = 1003"],
 "launch": {"grid": 3, "block": 96}}
*/
// wrong copy_of_input wrong_output: fmaxf(x[i], 0.0f) -> x[i]
// wrong constant wrong_output: fmaxf(x[i], 0.0f) -> 0.0f
// wrong wrong_stride wrong_output+unwritten: i += step -> i += step + step
// wrong missing_tail wrong_output+unwritten: i < n; -> i + 96 < n;
// wrong wrong_type wrong_output: relu(const float* __restrict__ x -> relu(const int* __restrict__ x
__global__ void relu(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    y[i] = fmaxf(x[i], 0.0f);
  }
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int k = 0; k < n; ++k) y[k] = x[k] > 0 ? x[k] : 0;
}
