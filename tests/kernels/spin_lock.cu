// Spin lock taken by every thread.
/* contract
{"args": ["inout m int32[2] zeros", "in x int32[256] uniform low=1 high=9"], "launch": {"grid": 4, "block": 64}}
*/
// wrong uncounted wrong_output: if (atomicCAS(m, 0, 1) == 0) { -> done = atomicCAS(m, 0, 1) != 0; if (!done) {
// wrong constant wrong_output: m[1] + add -> m[1] + add + 1
__global__ void k(int* m, const int* x) {
  const int add = x[blockIdx.x * blockDim.x + threadIdx.x];
  bool done = false;
  while (!done) {
    if (atomicCAS(m, 0, 1) == 0) {
      __threadfence();
      m[1] = m[1] + add;
      __threadfence();
      atomicExch(m, 0);
      done = true;
    }
  }
}
// reference
__global__ void reference(int* m, const int* x) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (int i = 0; i < 256; ++i) m[1] += x[i];
}
