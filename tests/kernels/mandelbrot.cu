// Iterations until escape: divergent loops.
/* contract
{"args": ["out y int32[h,w]", "int h = 24", "int w = 40"],
 "launch": {"grid": ["ceildiv(w, 8)", "ceildiv(h, 8)"], "block": [8, 8]}}
*/
// wrong too_few_rounds wrong_output: k < 50 -> k < 20
// wrong sub_for_add wrong_output: 2 * a * b + v -> 2 * a * b - v - 0.1f
__global__ void mandelbrot(int* y, int h, int w) {
  int i = blockIdx.x * 8 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  if (i >= w || j >= h) return;
  float u = -2.0f + i * 0.0625f, v = -0.75f + j * 0.0625f, a = 0, b = 0;
  int k = 0;
  while (k < 50 && a * a + b * b < 4.0f) {
    float t = a * a - b * b + u;
    b = 2 * a * b + v;
    a = t;
    ++k;
  }
  y[j * w + i] = k < 12 ? k : 12 + (k == 50);
}
// reference
__global__ void reference(int* y, int h, int w) {
  for (int p = 0; p < h * w; ++p) {
    double u = -2.0 + p % w * 0.0625, v = -0.75 + p / w * 0.0625, a = 0, b = 0;
    int k = 0;
    for (; k < 50 && a * a + b * b < 4; ++k) {
      double t = a * a - b * b + u;
      b = 2 * a * b + v;
      a = t;
    }
    y[p] = k < 12 ? k : 12 + (k == 50);
  }
}
