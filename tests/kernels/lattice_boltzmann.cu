// Lattice Boltzmann D2Q9, pull scheme.
/* contract
{"args": ["in f float32[9,32,32] uniform low=0.1 high=0.2", "out g float32[9,32,32] atol=1e-4", "float omega = 1.2"], "launch": {"grid": [1,8], "block": [32,4]}}
*/
// wrong sub_for_add wrong_output: y - cy[i] + 32 -> y+cy[i]+32
// wrong constant wrong_output: 4.f / 9 -> 5.f/9
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float wt[9] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                            1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
__global__ void k(const float* f, float* g, float omega) {
  int x = threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  float p[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    int sx = (x - cx[i] + 32) % 32, sy = (y - cy[i] + 32) % 32;
    p[i] = f[i * 1024 + sy * 32 + sx];
    rho += p[i];
    ux += p[i] * cx[i];
    uy += p[i] * cy[i];
  }
  ux /= rho;
  uy /= rho;
  float u2 = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    float cu = 3 * (cx[i] * ux + cy[i] * uy);
    g[i * 1024 + y * 32 + x] = p[i] + omega * (rho * wt[i] * (1 + cu + 0.5f * cu * cu - u2) - p[i]);
  }
}
// reference
__global__ void reference(const float* f, float* g, float omega) {
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const double w[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) {
      double p[9], r = 0, a = 0, b = 0;
      for (int i = 0; i < 9; ++i) {
        p[i] = f[i * 1024 + (y - cy[i] + 32) % 32 * 32 + (x - cx[i] + 32) % 32];
        r += p[i];
        a += p[i] * cx[i];
        b += p[i] * cy[i];
      }
      a /= r;
      b /= r;
      for (int i = 0; i < 9; ++i) {
        double c = 3 * (cx[i] * a + cy[i] * b);
        g[i * 1024 + y * 32 + x] =
            (float)(p[i] +
                    omega * (r * w[i] * (1 + c + 0.5 * c * c - 1.5 * (a * a + b * b)) - p[i]));
      }
    }
}
