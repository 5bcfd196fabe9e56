// LU factors of small matrices with partial pivoting in place, one warp a matrix: the pivot by shuffles, rows in shared memory.
/* contract
{"args": ["inout a float32[batch,16,16] randn atol=2e-3 rtol=2e-3", "out pivots int32[batch,16]", "int batch = 6"],
 "launch": {"grid": "ceildiv(batch, 2)", "block": [32, 2]}}
*/
// tolerance: the order of eliminations is the same, products are fused or not
// wrong no_pivot wrong_output: other > size -> other < -1.0f
// wrong wrong_row wrong_output: s[m][lane][j] -= factor * s[m][k][j] -> s[m][lane][j] -= factor * s[m][k][k]
__global__ void lu_panel(float* __restrict__ a, int* __restrict__ pivots, int batch) {
  __shared__ float s[2][16][17];
  const int lane = threadIdx.x, m = threadIdx.y, matrix = blockIdx.x * 2 + m;
  if (matrix >= batch) return;
  for (int i = lane; i < 256; i += 32) s[m][i / 16][i % 16] = a[matrix * 256 + i];
  __syncwarp();
  for (int k = 0; k < 16; ++k) {
    float size = lane >= k && lane < 16 ? fabsf(s[m][lane][k]) : -1.0f;
    int where = lane;
    for (int step = 16; step > 0; step >>= 1) {
      float other = __shfl_down_sync(~0u, size, step);
      int there = __shfl_down_sync(~0u, where, step);
      if (other > size) { size = other; where = there; }
    }
    where = __shfl_sync(~0u, where, 0);
    if (lane == 0) pivots[matrix * 16 + k] = where;
    if (lane < 16 && where != k) {
      float t = s[m][k][lane];
      s[m][k][lane] = s[m][where][lane];
      s[m][where][lane] = t;
    }
    __syncwarp();
    if (lane > k && lane < 16) {
      float factor = s[m][lane][k] / s[m][k][k];
      s[m][lane][k] = factor;
      for (int j = k + 1; j < 16; ++j) s[m][lane][j] -= factor * s[m][k][j];
    }
    __syncwarp();
  }
  for (int i = lane; i < 256; i += 32) a[matrix * 256 + i] = s[m][i / 16][i % 16];
}
// reference
__global__ void reference(float* a, int* pivots, int batch) {
  for (int b = 0; b < batch; ++b) {
    double w[16][16];
    for (int i = 0; i < 256; ++i) w[i / 16][i % 16] = a[b * 256 + i];
    for (int k = 0; k < 16; ++k) {
      int where = k;
      for (int i = k + 1; i < 16; ++i) {
        if (fabs(w[i][k]) > fabs(w[where][k])) where = i;
      }
      pivots[b * 16 + k] = where;
      for (int j = 0; j < 16; ++j) {
        double t = w[k][j];
        w[k][j] = w[where][j];
        w[where][j] = t;
      }
      for (int i = k + 1; i < 16; ++i) {
        w[i][k] /= w[k][k];
        for (int j = k + 1; j < 16; ++j) w[i][j] -= w[i][k] * w[k][j];
      }
    }
    for (int i = 0; i < 256; ++i) a[b * 256 + i] = w[i / 16][i % 16];
  }
}
