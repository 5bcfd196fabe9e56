// C = A B, each thread a 4 x 4 piece in registers; sizes are multiples of the 32 x 32 tile.
/* contract
{"args": ["in a float32[m,k]", "in b float32[k,n]", "out c float32[m,n]", "int m = 64", "int n = 32", "int k = 24"],
 "launch": {"grid": ["n / 32", "m / 32"], "block": 64}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // filled ->
// wrong wrong_stride wrong_output: bs[i][tx * 4 + q] -> bs[i][tx + q]
// wrong partial_rows wrong_output+unwritten: for (int p = 0; p < 4; ++p)  // store -> for (int p = 0; p < 3; ++p)
// wrong uninitialised wrong_output: c[(row0 + ty * 4 + p) * n + column0 + tx * 4 + q] = -> c[(row0 + ty * 4 + p) * n + column0 + tx * 4 + q] +=
__global__ __launch_bounds__(64) void sgemm_register(const float* __restrict__ a, const float* __restrict__ b,
                                                     float* __restrict__ c, int m, int n, int k) {
  __shared__ float as[8][32];
  __shared__ float bs[8][32];
  int t = threadIdx.x, tx = t % 8, ty = t / 8;
  int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 8) {
    for (int e = t; e < 256; e += 64) {
      as[e % 8][e / 8] = a[(row0 + e / 8) * k + k0 + e % 8];
      bs[e / 32][e % 32] = b[(k0 + e / 32) * n + column0 + e % 32];
    }
    __syncthreads();  // filled
    for (int i = 0; i < 8; ++i) {
      float av[4], bv[4];
      for (int p = 0; p < 4; ++p) av[p] = as[i][ty * 4 + p];
      for (int q = 0; q < 4; ++q) bv[q] = bs[i][tx * 4 + q];
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) sum[p][q] = fmaf(av[p], bv[q], sum[p][q]);
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; ++p)  // store
    for (int q = 0; q < 4; ++q) c[(row0 + ty * 4 + p) * n + column0 + tx * 4 + q] = sum[p][q];
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int r = 0; r < m; ++r) {
    for (int s = 0; s < n; ++s) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += (double)a[r * k + i] * b[i * n + s];
      c[r * n + s] = (float)sum;
    }
  }
}
