// Loads that leave their tensor. Line numbers are part of the tests.
extern "C" __global__ void reads_beyond(const float* x, float* out, int shift) {
  int i = threadIdx.x;
  float next = x[i + shift];  // line 4
  out[i] = x[i] + 0.0f * next;
}

extern "C" __global__ void reads_four_beyond(const float4* x, float4* out, int shift) {
  out[threadIdx.x] = x[threadIdx.x + shift];  // line 9
}

extern "C" __global__ void writes_beyond(float* out, int shift) {
  out[threadIdx.x + shift] = 1.0f;  // line 13
}

extern "C" __global__ void copies_beyond(const float4* x, float4* out, int shift) {
  __shared__ float4 tile[32];
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + threadIdx.x + shift));  // line 19
  asm volatile("cp.async.wait_all;");
  out[threadIdx.x] = tile[threadIdx.x];
}
