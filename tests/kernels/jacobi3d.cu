// One Jacobi step in three dimensions.
/* contract
{"args": ["in x float32[d,h,w]", "out y float32[d,h,w] atol=1e-5", "int d = 6", "int h = 9", "int w = 20"],
 "launch": {"grid": ["ceildiv(w, 32)", "h", "d"], "block": 32}}
*/
// tolerance: the order of the sum differs
// wrong wrong_stride wrong_output: p - h * w -> p - w
// wrong wrong_count wrong_output: / 6.0f -> / 5.0f
__global__ void jacobi3d(const float* x, float* y, int d, int h, int w) {
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y, k = blockIdx.z;
  if (i >= w) return;
  int p = (k * h + j) * w + i;
  bool edge = i == 0 || j == 0 || k == 0 || i == w - 1 || j == h - 1 || k == d - 1;
  y[p] = edge ? x[p] : (x[p - 1] + x[p + 1] + x[p - w] + x[p + w] + x[p - h * w] + x[p + h * w]) / 6.0f;
}
// reference
__global__ void reference(const float* x, float* y, int d, int h, int w) {
  for (int p = 0; p < d * h * w; ++p) y[p] = x[p];
  for (int k = 1; k + 1 < d; ++k)
    for (int j = 1; j + 1 < h; ++j)
      for (int i = 1; i + 1 < w; ++i) {
        double s = 0;
        for (int a = -1; a <= 1; a += 2) {
          s += x[(k * h + j) * w + i + a];
          s += x[(k * h + j + a) * w + i];
          s += x[((k + a) * h + j) * w + i];
        }
        y[(k * h + j) * w + i] = (float)(s / 6);
      }
}
