// Stable partition by one bit with ballots.
/* contract
{"args": ["in x int32[32] uniform low=0 high=1000", "out y int32[32]"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong unstable crashed: below = (1u << lane) - 1 -> below = ~0u >> lane
// wrong wrong_type wrong_output: (v >> 3) & 1 -> (v >> 2) & 1
__global__ void radix_partition(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned ones = __ballot_sync(~0u, (v >> 3) & 1), below = (1u << lane) - 1;
  bool one = ones >> lane & 1;
  int at = one ? __popc(~ones) + __popc(ones & below) : __popc(~ones & below);
  y[at] = v;
}
// reference
__global__ void reference(const int* x, int* y) {
  int at = 0;
  for (int bit = 0; bit < 2; ++bit)
    for (int i = 0; i < 32; ++i) if (x[i] / 8 % 2 == bit) y[at++] = x[i];
}
