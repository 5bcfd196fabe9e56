// How many lanes hold the same value, by match_any.
/* contract
{"args": ["in x int32[n] uniform low=0 high=6", "out y int32[n]", "int n = 128"],
 "launch": {"grid": 2, "block": 64}}
*/
// wrong ballot wrong_output: __match_any_sync(~0u, x[i]) -> __ballot_sync(~0u, x[i] > 2)
// wrong off_by_one wrong_output: __popc(same) -> __popc(same) - 1
__global__ void match_groups(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned same = __match_any_sync(~0u, x[i]);
  y[i] = __popc(same);
}
// reference
__global__ void reference(const int* x, int* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) y[i] += x[j] == x[i];
  }
}
