// Sum of two views with row pitches of their own: the contract's strides, contiguous output.
/* contract
{"args": ["in a float32[rows,columns] strides=20,1", "in b float32[rows,columns] strides=1,9", "out c float32[rows,columns]",
          "int rows = 9", "int columns = 17"],
 "launch": {"grid": "rows", "block": 32}}
*/
// wrong wrong_stride wrong_output: a[r * 20 + t] -> a[r * 17 + t]
// wrong wrong_stride/of_b wrong_output: b[t * 9 + r] -> b[r * 17 + t]
// wrong partial_rows wrong_output+unwritten: int r = blockIdx.x -> int r = blockIdx.x; if (r == 3) return
// wrong sub_for_add wrong_output: + b[ -> - b[
__global__ void strided_rows(const float* a, const float* b, float* c, int rows, int columns) {
  int r = blockIdx.x;
  int t = threadIdx.x;
  if (t < columns) c[r * columns + t] = a[r * 20 + t] + b[t * 9 + r];
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int rows, int columns) {
  for (int s = 0; s < columns; ++s, ++a, b += 9)
    for (int r = 0; r < rows; ++r) c[r * columns + s] = b[r] + a[20 * r];
}
