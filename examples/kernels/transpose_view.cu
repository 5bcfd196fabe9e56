// Transposes a view into a wider matrix: rows lie `pitch` elements apart, what is between them is not read.
__global__ void transpose_view(const float* x, float* y, int rows, int columns, int pitch) {
  __shared__ float tile[32][33];
  int column = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int row = blockIdx.y * 32 + j;
    if (row < rows && column < columns) tile[j][threadIdx.x] = x[row * pitch + column];
  }
  __syncthreads();
  int row = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int to = blockIdx.x * 32 + j;
    if (to < columns && row < rows) y[to * rows + row] = tile[threadIdx.x][j];
  }
}
