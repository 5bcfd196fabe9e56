// Patches of 3x3 as columns.
/* contract
{"args": ["in x float32[h,w]", "out y float32[9,o] atol=0", "int h = 12", "int w = 15", "int o = 130"],
 "launch": {"grid": "ceildiv(9 * o, 128)", "block": 128}}
*/
// wrong swapped_arguments wrong_output: t / 3, dx = t % 3 -> t % 3, dx = t / 3
// wrong missing_tail wrong_output: if (i >= 9 * o) return; -> if (i >= 8 * o) return;
__global__ void im2col(const float* x, float* y, int h, int w, int o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 9 * o) return;
  int t = i / o, p = i % o, dy = t / 3, dx = t % 3;
  y[i] = x[(p / (w - 2) + dy) * w + p % (w - 2) + dx];
}
// reference
__global__ void reference(const float* x, float* y, int h, int w, int o) {
  for (int r = 0; r + 2 < h; ++r)
    for (int c = 0; c + 2 < w; ++c)
      for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) y[(dy * 3 + dx) * o + r * (w - 2) + c] = x[(r + dy) * w + c + dx];
}
