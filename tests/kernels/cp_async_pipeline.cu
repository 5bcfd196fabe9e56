// Two-stage pipeline of asynchronous copies.
/* contract
{"args": ["in x float32[tiles,128]", "out y float32[128] atol=1e-3", "int tiles = 9"],
 "launch": {"grid": 1, "block": 128}}
*/
// tolerance: the sum rounds in single precision
// wrong wrong_stage wrong_output: stage[t % 2][127 -> stage[(t + 1) % 2][127
// wrong late_wait wrong_output: __pipeline_wait_prior(1) -> __pipeline_wait_prior(2)
// wrong missing_tail wrong_output: t < tiles; -> t < tiles - 1;
#include <cuda_pipeline.h>
__global__ void cp_async_pipeline(const float* x, float* y, int tiles) {
  __shared__ __align__(16) float stage[2][128];
  int i = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&stage[0][i], x + i, 4);
  __pipeline_commit();
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) __pipeline_memcpy_async(&stage[(t + 1) % 2][i], x + (t + 1) * 128 + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[t % 2][127 - i] * (t + 1);
    __syncthreads();
  }
  y[i] = sum;
}
// reference
__global__ void reference(const float* x, float* y, int tiles) {
  for (int i = 0; i < 128; ++i) {
    double s = 0;
    for (int t = 0; t < tiles; ++t) s += (double)x[t * 128 + 127 - i] * (t + 1);
    y[i] = (float)s;
  }
}
