// Spin lock taken by every thread.
/* contract
{"args": ["inout m int32[2] zeros"], "launch": {"grid": 4, "block": 64}}
*/
// wrong uncounted wrong_output: if (atomicCAS(m, 0, 1) == 0) { -> done = atomicCAS(m, 0, 1) != 0; if (!done) {
// wrong constant wrong_output: m[1] + 1 -> m[1]+2
__global__ void k(int* m) {
  bool done = false;
  while (!done) {
    if (atomicCAS(m, 0, 1) == 0) {
      __threadfence();
      m[1] = m[1] + 1;
      __threadfence();
      atomicExch(m, 0);
      done = true;
    }
  }
}
// reference
__global__ void reference(int* m) { m[1] = 256; }
