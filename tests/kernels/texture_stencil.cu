// A stencil of five points over a texture whose border is zero; rows are padded.
/* contract
{"args": ["in u float32[rows,columns] strides=40,1 texture=border", "out v float32[rows,columns]", "int rows = 21", "int columns = 37"],
 "launch": {"grid": {"x": "ceildiv(columns, 16)", "y": "ceildiv(rows, 8)"}, "block": {"x": 16, "y": 8}}}
*/
// wrong sub_for_add wrong_output: east + west -> east - west
// wrong wrong_stride wrong_output: v[y * columns + x] -> v[x * rows + y]
// wrong swapped_arguments wrong_output: u, x - 0.5f, y + 0.5f -> u, y + 0.5f, x - 0.5f
// wrong next_but_one wrong_output: u, x + 1.5f -> u, x + 2.5f
// wrong constant wrong_output: 4.0f * here -> 4.0f
__global__ void stencil(cudaTextureObject_t u, float* v, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  float here = tex2D<float>(u, x + 0.5f, y + 0.5f);
  float west = tex2D<float>(u, x - 0.5f, y + 0.5f);
  float east = tex2D<float>(u, x + 1.5f, y + 0.5f);
  float north = tex2D<float>(u, x + 0.5f, y - 0.5f);
  float south = tex2D<float>(u, x + 0.5f, y + 1.5f);
  v[y * columns + x] = east + west + north + south - 4.0f * here;
}
// reference
__global__ void reference(const float* u, float* v, int rows, int columns) {
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      double sum = -4.0 * u[y * 40 + x];
      if (x > 0) sum += u[y * 40 + x - 1];
      if (x + 1 < columns) sum += u[y * 40 + x + 1];
      if (y > 0) sum += u[(y - 1) * 40 + x];
      if (y + 1 < rows) sum += u[(y + 1) * 40 + x];
      v[y * columns + x] = sum;
    }
}
