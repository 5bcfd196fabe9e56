// Transpose through a padded tile.
/* contract
{"args": ["in x float32[r,c]", "out y float32[c,r] atol=0", "int r = 50", "int c = 37"],
 "launch": {"grid": ["ceildiv(c, 32)", "ceildiv(r, 32)"], "block": [32, 8]}}
*/
// wrong missing_barrier wrong_output: __syncthreads(); -> 
// wrong wrong_stride wrong_output: y[v * r + u] -> y[v * c + u]
__global__ void transpose_tiled(const float* x, float* y, int r, int c) {
  __shared__ float tile[32][33];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) if (i < c && j + k < r) tile[threadIdx.y + k][threadIdx.x] = x[(j + k) * c + i];
  __syncthreads();
  int u = blockIdx.y * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) {
    int v = blockIdx.x * 32 + threadIdx.y + k;
    if (u < r && v < c) y[v * r + u] = tile[threadIdx.x][threadIdx.y + k];
  }
}
// reference
__global__ void reference(const float* x, float* y, int r, int c) {
  for (int i = 0; i < r * c; ++i) y[i % c * r + i / c] = x[i];
}
