// A template over the element type and an operation, instantiated by a name expression.
/* contract
{"args": ["in x float32[n]", "out y float32[n]", "int n = 700"],
 "launch": {"grid": 3, "block": 128},
 "metadata": {"name_expressions": ["map<float, Square, 2>"], "kernel_name": "map<float, Square, 2>"}}
*/
// wrong missing_tail wrong_output+unwritten: j < n -> j + 1 < n
// wrong sub_for_add wrong_output: return v * v + T(1) -> return v * v - T(1)
// wrong wrong_stride wrong_output+unwritten: int j = i * PerThread + k -> int j = i + k
// wrong wrong_type wrong_output: T v = x[j] -> int v = x[j]
struct Square {
  template <typename T>
  __device__ T operator()(T v) const {
    return v * v + T(1);
  }
};
template <typename T, typename Operation, int PerThread>
__global__ void map(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < PerThread; ++k) {
    int j = i * PerThread + k;
    if (j < n) {
      T v = x[j];
      y[j] = Operation()(v);
    }
  }
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int k = 0; k < n; ++k) y[k] = (float)(1.0 + (double)x[k] * x[k]);
}
