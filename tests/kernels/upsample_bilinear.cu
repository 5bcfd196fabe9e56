// Doubling an image, bilinear with aligned corners off.
/* contract
{"args": ["in x float32[h,w]", "out y float32[h2,w2] atol=1e-5", "int h = 9", "int w = 11", "int h2 = 18", "int w2 = 22"],
 "launch": {"grid": ["ceildiv(w2, 16)", "ceildiv(h2, 8)"], "block": [16, 8]}}
*/
// tolerance: weights in single precision
// wrong aligned wrong_output: (j + 0.5f) / 2 - 0.5f -> (j + 0.0f) / 2
// wrong nearest wrong_output: float a = fy - y0 -> float a = 0
__global__ void upsample_bilinear(const float* x, float* y, int h, int w, int h2, int w2) {
  int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  if (i >= w2 || j >= h2) return;
  float fy = fmaxf((j + 0.5f) / 2 - 0.5f, 0.0f), fx = fmaxf((i + 0.5f) / 2 - 0.5f, 0.0f);
  int y0 = (int)fy, x0 = (int)fx, y1 = min(y0 + 1, h - 1), x1 = min(x0 + 1, w - 1);
  float a = fy - y0, b = fx - x0;
  y[j * w2 + i] = (1 - a) * ((1 - b) * x[y0 * w + x0] + b * x[y0 * w + x1]) + a * ((1 - b) * x[y1 * w + x0] + b * x[y1 * w + x1]);
}
// reference
__global__ void reference(const float* x, float* y, int h, int w, int h2, int w2) {
  for (int j = 0; j < h2; ++j)
    for (int i = 0; i < w2; ++i) {
      double s = 0;
      double fy = (2.0 * j - 1) / 4, fx = (2.0 * i - 1) / 4;
      if (fy < 0) fy = 0;
      if (fx < 0) fx = 0;
      for (int r = 0; r < h; ++r)
        for (int c = 0; c < w; ++c) {
          double u = fabs(fy > h - 1 ? 0.0 + (r != h - 1) : fy - r), v = fabs(fx > w - 1 ? 0.0 + (c != w - 1) : fx - c);
          if (u < 1 && v < 1) s += (1 - u) * (1 - v) * x[r * w + c];
        }
      y[j * w2 + i] = (float)s;
    }
}
