// Mean and variance in double by Welford merges with shuffles.
/* contract
{"args": ["in x float64[4,100]", "out m float64[4,2] atol=1e-9"], "launch": {"grid": 4, "block": 32}}
*/
// wrong sub_for_add wrong_output: a.s + b.s + d -> a.s+b.s-d
// wrong wrong_condition wrong_output: i < 100; i += 32 -> i<99;i+=32
struct W {
  double m, s;
  int n;
};
__device__ W merge(W a, W b) {
  int n = a.n + b.n;
  if (n == 0) return a;
  double d = b.m - a.m;
  return {a.m + d * b.n / n, a.s + b.s + d * d * a.n * b.n / n, n};
}
__global__ void k(const double* x, double* o) {
  W w{0, 0, 0};
  for (int i = threadIdx.x; i < 100; i += 32) {
    double v = x[blockIdx.x * 100 + i];
    w.n++;
    double d = v - w.m;
    w.m += d / w.n;
    w.s += d * (v - w.m);
  }
  for (int d = 16; d; d >>= 1) {
    W u{__shfl_down_sync(~0u, w.m, d), __shfl_down_sync(~0u, w.s, d),
        __shfl_down_sync(~0u, w.n, d)};
    w = merge(w, u);
  }
  if (threadIdx.x == 0) {
    o[blockIdx.x * 2] = w.m;
    o[blockIdx.x * 2 + 1] = w.s / w.n;
  }
}
// reference
__global__ void reference(const double* x, double* o) {
  for (int r = 0; r < 4; ++r) {
    double m = 0, v = 0;
    for (int i = 0; i < 100; ++i) m += x[r * 100 + i];
    m /= 100;
    for (int i = 0; i < 100; ++i) v += (x[r * 100 + i] - m) * (x[r * 100 + i] - m);
    o[2 * r] = m;
    o[2 * r + 1] = v / 100;
  }
}
