// cp.async.bulk with mbarrier expect_tx (sm_90), else plain copy.
/* contract
{"args": ["in x float32[1024]", "out y float32[1024]"], "launch": {"grid": 4, "block": 64}}
*/
// wrong wrong_condition wrong_output: = s[255 - i] -> =s[254-i%254]
// wrong bytes_too_many timed_out: barrier_arrive_tx(bar, 1, 1024) -> barrier_arrive_tx(bar, 1, 2048)
// wrong partial_rows wrong_output: y[blockIdx.x * 256 + i] = s -> if(i<200)y[blockIdx.x*256+i]=s
#include <cuda/barrier>
__global__ void k(const float* x, float* y) {
  __shared__ alignas(128) float s[256];
#if __CUDA_ARCH__ >= 900
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token tok;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(s, x + blockIdx.x * 256, 1024, bar);
    tok = cuda::device::barrier_arrive_tx(bar, 1, 1024);
  } else
    tok = bar.arrive();
  bar.wait(std::move(tok));
#else
  for (int i = threadIdx.x; i < 256; i += 64) s[i] = x[blockIdx.x * 256 + i];
  __syncthreads();
#endif
  for (int i = threadIdx.x; i < 256; i += 64) y[blockIdx.x * 256 + i] = s[255 - i];
}
// reference
__global__ void reference(const float* x, float* y) {
  for (int b = 0; b < 4; ++b)
    for (int i = 0; i < 256; ++i) y[b * 256 + i] = x[b * 256 + 255 - i];
}
