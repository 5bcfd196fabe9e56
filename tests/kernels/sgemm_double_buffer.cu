// Tiles in two alternating buffers, one barrier per tile.
/* contract
{"args": ["in a float32[32,48]", "in b float32[48,32]", "out c float32[32,32] atol=1e-3"],
 "launch": {"grid": [2, 2], "block": [16, 16]}}
*/
// tolerance: sums in single precision
// wrong wrong_buffer wrong_output: as[now][ty][i] -> as[1 - now][ty][i]
// wrong missing_tail wrong_output: tile < 3; ++tile -> tile < 2; ++tile
__global__ void sgemm_double_buffer(const float* a, const float* b, float* c) {
  __shared__ float as[2][16][16], bs[2][16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  as[0][ty][tx] = a[row * 48 + tx];
  bs[0][ty][tx] = b[ty * 32 + column];
  __syncthreads();
  for (int tile = 0; tile < 3; ++tile) {
    int now = tile % 2;
    if (tile + 1 < 3) {
      as[1 - now][ty][tx] = a[row * 48 + (tile + 1) * 16 + tx];
      bs[1 - now][ty][tx] = b[((tile + 1) * 16 + ty) * 32 + column];
    }
    for (int i = 0; i < 16; ++i) sum += as[now][ty][i] * bs[now][i][tx];
    __syncthreads();
  }
  c[row * 32 + column] = sum;
}
// reference
__global__ void reference(const float* a, const float* b, float* c) {
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      double s = 0;
      for (int k = 0; k < 48; ++k) s += (double)a[i * 48 + k] * b[k * 32 + j];
      c[i * 32 + j] = (float)s;
    }
}
