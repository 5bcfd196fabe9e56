// Transpose through a padded tile in shared memory.
/* contract
{"args": ["in x float32[rows,columns]", "out y float32[columns,rows]", "int rows = 45", "int columns = 70"],
 "launch": {"grid": ["ceildiv(columns, 32)", "ceildiv(rows, 32)"], "block": [32, 8]}}
*/
// wrong missing_barrier wrong_output: __syncthreads(); ->
// wrong copy_of_input wrong_output: y[(column0 + j) * rows + row0 + threadIdx.x] = tile[threadIdx.x][j] -> y[(column0 + j) * rows + row0 + threadIdx.x] = x[(column0 + j) * rows + row0 + threadIdx.x]
// wrong wrong_stride crashed: y[(column0 + j) * rows + -> y[(column0 + j) * columns +
// wrong partial_rows wrong_output: if (row0 + j < rows && column < columns) -> if (row0 + j < 32 && column < columns)
// wrong swapped_arguments wrong_output: int rows, int columns -> int columns, int rows
__global__ void transpose(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[32][33];
  int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
  int column = column0 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (row0 + j < rows && column < columns) tile[j][threadIdx.x] = x[(row0 + j) * columns + column];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (column0 + j < columns && row0 + threadIdx.x < rows)
      y[(column0 + j) * rows + row0 + threadIdx.x] = tile[threadIdx.x][j];
  }
}
// reference
__global__ void reference(const float* x, float* y, int rows, int columns) {
  for (int e = 0; e < rows * columns; ++e) y[e] = x[e % rows * columns + e / rows];
}
