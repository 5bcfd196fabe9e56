// Floats to e4m3 and back.
/* contract
{"args": ["in x float32[n] uniform low=-300 high=300", "out y float32[n] atol=1e-6", "int n = 500"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong wrong_type wrong_output: __nv_fp8_e4m3 q -> __nv_fp8_e5m2 q
// wrong missing_tail wrong_output: if (i < n) -> if (i < 384)
#include <cuda_fp8.h>
__global__ void fp8_round_trip(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    __nv_fp8_e4m3 q(x[i]);
    y[i] = float(q);
  }
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    double v = fabs((double)x[i]), unit = 1.0 / 512;
    while (v / unit >= 16) unit *= 2;
    double r = nearbyint(v / unit) * unit;
    y[i] = (float)(x[i] < 0 ? -r : r);
  }
}
