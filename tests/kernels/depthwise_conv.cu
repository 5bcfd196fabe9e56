// 3x3 depthwise convolution with zero padding.
/* contract
{"args": ["in x float32[c,h,w]", "in f float32[c,9]", "out y float32[c,h,w] atol=1e-4", "int c = 4", "int h = 13", "int w = 18"],
 "launch": {"grid": ["ceildiv(w, 16)", "ceildiv(h, 4)", "c"], "block": [16, 4]}}
*/
// tolerance: sums in single precision
// wrong wrong_channel wrong_output: f[z * 9 + -> f[
// wrong no_padding wrong_output: if (v >= 0 && v < h && u >= 0 && u < w) -> if (v >= 1 && v < h && u >= 0 && u < w)
__global__ void depthwise_conv(const float* x, const float* f, float* y, int c, int h, int w) {
  int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z;
  if (i >= w || j >= h) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int v = j + dy, u = i + dx;
      if (v >= 0 && v < h && u >= 0 && u < w) sum += x[(z * h + v) * w + u] * f[z * 9 + (dy + 1) * 3 + dx + 1];
    }
  y[(z * h + j) * w + i] = sum;
}
// reference
__global__ void reference(const float* x, const float* f, float* y, int c, int h, int w) {
  for (int z = 0; z < c; ++z)
    for (int j = 0; j < h; ++j)
      for (int i = 0; i < w; ++i) {
        double s = 0;
        for (int t = 0; t < 9; ++t) {
          int v = j + t / 3 - 1, u = i + t % 3 - 1;
          if (v < 0 || v >= h || u < 0 || u >= w) continue;
          s += (double)x[(z * h + v) * w + u] * f[z * 9 + t];
        }
        y[(z * h + j) * w + i] = (float)s;
      }
}
