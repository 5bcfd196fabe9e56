// Maximum of floats by CAS in shared memory, then global.
/* contract
{"args": ["in x float32[1000]", "inout m float32[1] full fill_value=-100", "int n = 1000"], "launch": {"grid": 4, "block": 256}}
*/
// wrong wrong_condition wrong_output: = -1e30f -> =1e30f
// wrong missing_tail suspect+out_of_bounds_read: if (i < n) amax -> amax
__device__ float amax(float* a, float v) {
  int* p = (int*)a;
  int old = *p, seen;
  do {
    seen = old;
    if (__int_as_float(seen) >= v) break;
    old = atomicCAS(p, seen, __float_as_int(v));
  } while (seen != old);
  return __int_as_float(old);
}
__global__ void k(const float* x, float* m, int n) {
  __shared__ float s;
  if (threadIdx.x == 0) s = -1e30f;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) amax(&s, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) amax(m, s);
}
// reference
__global__ void reference(const float* x, float* m, int n) {
  for (int i = 0; i < n; ++i) m[0] = fmaxf(m[0], x[i]);
}
