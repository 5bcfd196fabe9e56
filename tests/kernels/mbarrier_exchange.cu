// Threads meet at a cuda::barrier between writing and reading.
/* contract
{"args": ["in x float32[256]", "out y float32[256]"],
 "launch": {"grid": 2, "block": 128}}
*/
// wrong no_wait wrong_output: meet.arrive_and_wait(); -> 
// wrong wrong_partner wrong_output: 127 - i -> 126 - (i & 126)
// wrong count_too_large timed_out: init(&meet, 128) -> init(&meet, 129)
#include <cuda/barrier>
__global__ void mbarrier_exchange(const float* x, float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> meet;
  __shared__ float s[128];
  int i = threadIdx.x;
  if (i == 0) init(&meet, 128);
  __syncthreads();
  s[i] = x[blockIdx.x * 128 + i];
  meet.arrive_and_wait();
  y[blockIdx.x * 128 + i] = s[127 - i] * 2.0f;
}
// reference
__global__ void reference(const float* x, float* y) {
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 128; ++i) y[b * 128 + i] = x[b * 128 + 127 - i] + x[b * 128 + 127 - i];
}
