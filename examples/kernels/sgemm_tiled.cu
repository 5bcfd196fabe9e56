// C = A B through 32 x 32 tiles in shared memory, four results a thread, edges guarded.
constexpr int kTile = 32;

__global__ __launch_bounds__(256) void sgemm_tiled(const float* __restrict__ a, const float* __restrict__ b,
                                                   float* __restrict__ c, int m, int n, int k) {
  __shared__ float as[kTile][kTile + 1];
  __shared__ float bs[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int column = blockIdx.x * kTile + tx;
  float sum[4] = {};
  for (int k0 = 0; k0 < k; k0 += kTile) {
    for (int p = 0; p < kTile; p += 8) {
      int row = blockIdx.y * kTile + ty + p;
      as[ty + p][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;
      bs[ty + p][tx] = k0 + ty + p < k && column < n ? b[(k0 + ty + p) * n + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      float right = bs[i][tx];
      for (int p = 0; p < 4; ++p) sum[p] += as[ty + 8 * p][i] * right;
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; ++p) {
    int row = blockIdx.y * kTile + ty + 8 * p;
    if (row < m && column < n) c[row * n + column] = sum[p];
  }
}
