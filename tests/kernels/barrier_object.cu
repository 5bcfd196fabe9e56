// cuda::barrier arrive/wait in place of __syncthreads.
/* contract
{"args": ["in x float32[512]", "out y float32[512]"], "launch": {"grid": 2, "block": 256}}
*/
// wrong wrong_condition wrong_output: s[255 - threadIdx.x] -> s[threadIdx.x]
// wrong constant wrong_output: = v + 1; -> =1;
#include <cuda/barrier>
__global__ void k(const float* x, float* y) {
  __shared__ float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  auto token = bar.arrive();
  bar.wait(std::move(token));
  float v = s[255 - threadIdx.x];
  bar.arrive_and_wait();
  s[threadIdx.x] = v + 1;
  bar.arrive_and_wait();
  y[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x ^ 1];
}
// reference
__global__ void reference(const float* x, float* y) {
  for (int b = 0; b < 2; ++b)
    for (int t = 0; t < 256; ++t) y[b * 256 + t] = x[b * 256 + 255 - (t ^ 1)] + 1;
}
