// Rows of a table, averaged per bag.
/* contract
{"args": ["in table float32[rows,16]", "in ids int32[bags,5] uniform low=0 high=29", "out y float32[bags,16] atol=1e-5", "int rows = 30", "int bags = 40"],
 "launch": {"grid": "bags", "block": 16}}
*/
// tolerance: sums in single precision
// wrong wrong_count wrong_output: / 5.0f -> / 4.0f
// wrong wrong_stride wrong_output: ids[blockIdx.x * 5 + k] -> ids[blockIdx.x + k]
__global__ void embedding_bag(const float* table, const int* ids, float* y, int rows, int bags) {
  float s = 0;
  for (int k = 0; k < 5; ++k) s += table[ids[blockIdx.x * 5 + k] * 16 + threadIdx.x];
  y[blockIdx.x * 16 + threadIdx.x] = s / 5.0f;
}
// reference
__global__ void reference(const float* table, const int* ids, float* y, int rows, int bags) {
  for (int b = 0; b < bags; ++b)
    for (int d = 0; d < 16; ++d) {
      double s = 0;
      for (int k = 0; k < 5; ++k) s += table[ids[b * 5 + k] * 16 + d];
      y[b * 16 + d] = (float)(s / 5);
    }
}
