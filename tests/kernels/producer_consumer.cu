// Warp specialisation: one warp loads, three compute, named barriers between them.
/* contract
{"args": ["in x float32[tiles,96]", "out y float32[96] atol=1e-3", "int tiles = 6"],
 "launch": {"grid": 1, "block": 128}}
*/
// tolerance: the sum rounds in single precision
// wrong wrong_tile wrong_output: x[t * 96 + k * 32 + lane] -> x[k * 32 + lane]
// wrong missing_tail wrong_output: sum += s[95 -> if (t > 0) sum += s[95
__global__ void producer_consumer(const float* x, float* y, int tiles) {
  __shared__ float s[96];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, c = threadIdx.x - 32;
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    if (warp == 0) {
      for (int k = 0; k < 3; ++k) s[k * 32 + lane] = x[t * 96 + k * 32 + lane];
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += s[95 - c];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
  if (warp > 0) y[c] = sum;
}
// reference
__global__ void reference(const float* x, float* y, int tiles) {
  for (int c = 0; c < 96; ++c) {
    double s = 0;
    for (int t = 0; t < tiles; ++t) s += x[t * 96 + 95 - c];
    y[c] = (float)s;
  }
}
