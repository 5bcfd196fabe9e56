// Layer normalisation with weight and bias, one block a row.
/* contract
{"args": ["in x float32[rows,columns] randn mean=2", "in weight float32[columns]", "in bias float32[columns]",
          "out y float32[rows,columns]", "int rows = 4", "int columns = 100", "float epsilon = 1e-5"],
 "launch": {"grid": "rows", "block": 128}}
*/
// wrong swapped_arguments wrong_output: const float* weight, const float* bias -> const float* bias, const float* weight
// wrong sub_for_add wrong_output: + bias[t] -> - bias[t]
// wrong missing_barrier wrong_output: __syncthreads();  // put ->
// wrong wrong_divisor wrong_output: block_sum(d * d, scratch) / columns -> block_sum(d * d, scratch) / (columns - 1)
// wrong missing_tail wrong_output+unwritten: bool inside = t < columns -> bool inside = t < columns / 32 * 32
__device__ float block_sum(float v, float* scratch) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();  // put
  return scratch[0] + scratch[1] + scratch[2] + scratch[3];
}
__global__ void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows, int columns,
                          float epsilon) {
  __shared__ float scratch[4];
  int t = threadIdx.x, at = blockIdx.x * columns + t;
  bool inside = t < columns;
  float v = inside ? x[at] : 0.0f;
  float mean = block_sum(v, scratch) / columns;
  float d = inside ? v - mean : 0.0f;
  float variance = block_sum(d * d, scratch) / columns;
  if (inside) y[at] = d * rsqrtf(variance + epsilon) * weight[t] + bias[t];
}
// reference
__global__ void reference(const float* x, const float* weight, const float* bias, float* y, int rows, int columns,
                          float epsilon) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (int c = 0; c < columns; ++c) {
      double v = x[r * columns + c];
      sum += v;
      squares += v * v;
    }
    double mean = sum / columns, deviation = sqrt(squares / columns - mean * mean + 1e-5);
    for (int c = 0; c < columns; ++c)
      y[r * columns + c] = (float)((x[r * columns + c] - mean) / deviation * weight[c] + bias[c]);
  }
}
