// Max pooling 2 x 2, stride 2, odd sizes rounded up, with the winning position as int32.
/* contract
{"args": ["in x float32[h,w] uniform low=-5 high=-1", "out y float32[ceildiv(h,2),ceildiv(w,2)]",
          "out at int32[ceildiv(h,2),ceildiv(w,2)]", "int h = 15", "int w = 21"],
 "launch": {"grid": 1, "block": [11, 8]}}
*/
// wrong uninitialised wrong_output: float best = x[2 * py * w + 2 * px] -> float best = 0.0f
// wrong wrong_stride wrong_output: int cell = yy * w + xx -> int cell = yy * h + xx
// wrong wrong_type wrong_output: float best = -> int best =
// wrong partial_rows wrong_output+unwritten: int oh = (h + 1) / 2 -> int oh = h / 2
// wrong min_for_max wrong_output: x[cell] > best -> x[cell] < best
__global__ void max_pool(const float* x, float* y, int* at, int h, int w) {
  int px = threadIdx.x, py = threadIdx.y;
  int oh = (h + 1) / 2, ow = (w + 1) / 2;
  if (px >= ow || py >= oh) return;
  float best = x[2 * py * w + 2 * px];
  int where = 2 * py * w + 2 * px;
  for (int yy = 2 * py; yy < min(2 * py + 2, h); ++yy) {
    for (int xx = 2 * px; xx < min(2 * px + 2, w); ++xx) {
      int cell = yy * w + xx;
      if (x[cell] > best) {
        best = x[cell];
        where = cell;
      }
    }
  }
  y[py * ow + px] = best;
  at[py * ow + px] = where;
}
// reference
__global__ void reference(const float* x, float* y, int* at, int h, int w) {
  int ow = (w + 1) / 2;
  for (int e = 0; e < (h + 1) / 2 * ow; ++e) at[e] = -1;
  for (int cell = 0; cell < h * w; ++cell) {
    int e = cell / w / 2 * ow + cell % w / 2;
    if (at[e] < 0 || x[cell] > y[e]) {
      y[e] = x[cell];
      at[e] = cell;
    }
  }
}
