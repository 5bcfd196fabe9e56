// Transposed convolution of stride 2.
/* contract
{"args": ["in x float32[n]", "in f float32[4]", "out y float32[m] atol=1e-5", "int n = 100", "int m = 202"],
 "launch": {"grid": "ceildiv(m, 128)", "block": 128}}
*/
// tolerance: sums in single precision
// wrong wrong_stride wrong_output: o - 2 * i -> o - i
// wrong partial_rows wrong_output: i <= o / 2 -> i < o / 2
__global__ void conv_transpose1d(const float* x, const float* f, float* y, int n, int m) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= m) return;
  float s = 0;
  for (int i = o / 2 - 1; i <= o / 2; ++i) {
    int t = o - 2 * i;
    if (i >= 0 && i < n && t >= 0 && t < 4) s += x[i] * f[t];
  }
  y[o] = s;
}
// reference
__global__ void reference(const float* x, const float* f, float* y, int n, int m) {
  for (int o = 0; o < m; ++o) {
    double s = 0;
    for (int i = 0; i < n; ++i)
      for (int t = 0; t < 4; ++t) if (2 * i + t == o) s += (double)x[i] * f[t];
    y[o] = (float)s;
  }
}
