// Two smoothing steps with all blocks meeting in between.
/* contract
{"args": ["inout x float32[n]", "inout t float32[n]", "int n = 512"],
 "launch": {"grid": 4, "block": 128}}
*/
// wrong one_step wrong_output: x[i] = (t[l] + t[i] + t[r]) / 3.0f; -> x[i] = t[i];
// wrong wrong_stride wrong_output: int r = i + 1 < n ? i + 1 : i -> int r = i + 2 < n ? i + 2 : i
#include <cooperative_groups.h>
__global__ void grid_sync_smooth(float* x, float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int l = i > 0 ? i - 1 : i;
  int r = i + 1 < n ? i + 1 : i;
  float v = (x[l] + x[i] + x[r]) / 3.0f;
  cooperative_groups::this_grid().sync();
  t[i] = v;
  cooperative_groups::this_grid().sync();
  x[i] = (t[l] + t[i] + t[r]) / 3.0f;
}
// reference
__global__ void reference(float* x, float* t, int n) {
  for (int i = 0; i < n; ++i) t[i] = (x[i > 0 ? i - 1 : i] + x[i] + x[i + 1 < n ? i + 1 : i]) / 3.0f;
  for (int i = 0; i < n; ++i) x[i] = (t[i > 0 ? i - 1 : i] + t[i] + t[i + 1 < n ? i + 1 : i]) / 3.0f;
}
