// Grid-wide spin with atomics and __threadfence: two phases without cooperative launch.
/* contract
{"args": ["in x float32[256]", "inout tmp float32[256] zeros", "inout flag int32[1] zeros", "out y float32[256]"], "launch": {"grid": 4, "block": 64}}
*/
// wrong wrong_condition timed_out: (flag, 0) < 4 -> (flag,0)<5
// wrong wrong_stride wrong_output: tmp[255 - i] -> tmp[254-i%254]
__global__ void k(const float* x, float* tmp, int* flag, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  tmp[i] = x[i] * 2;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(flag, 1);
    while (atomicAdd(flag, 0) < 4)
      ;
    __threadfence();
  }
  __syncthreads();
  y[i] = tmp[255 - i];
}
// reference
__global__ void reference(const float* x, float* tmp, int* flag, float* y) {
  for (int i = 0; i < 256; ++i) {
    tmp[i] = x[i] * 2;
    y[i] = x[255 - i] * 2;
  }
  *flag = 4;
}
