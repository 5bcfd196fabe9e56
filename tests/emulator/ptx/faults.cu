// Kernels that do what must not be done. Line numbers are part of the tests.
extern "C" __global__ void overrun(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i < n ? i : 0] * 2.0f;  // line 4: no bounds check
}


extern "C" __global__ void null_read(float* out, const float* p) {
  out[threadIdx.x] = p[threadIdx.x];  // line 9
}

extern "C" __global__ void shared_overrun(int* out, int shift) {
  __shared__ int tile[64];
  tile[threadIdx.x + shift] = threadIdx.x;  // line 14
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void misaligned_vector(const float* x, float4* out) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(x + threadIdx.x);  // line 20
}

extern "C" __global__ void endless(int* out) {
  volatile int* flag = out;
  while (*flag == 0) {  // line 25
  }
}

extern "C" __global__ void barrier_mismatch(int* out) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1;");  // line 31
  } else {
    asm volatile("bar.sync 2;");
  }
  out[threadIdx.x] = 1;
}

extern "C" __global__ void trap_here() {
  if (threadIdx.x == 5) __trap();  // line 39
}

extern "C" __global__ void uses_wgmma(float* out) {
  unsigned a = 0, b = 0;
  float c[4] = {0, 0, 0, 0};
  asm volatile(  // line 45
      "wgmma.fence.sync.aligned;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(a), "r"(b));
  out[threadIdx.x] = c[0];
}
