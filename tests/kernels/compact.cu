// Stream compaction of positive values in order, by ballots and a prefix over warps; the count is an output.
/* contract
{"args": ["in x int32[n]", "out y int32[n] zeros", "out count int32[1]", "int n = 256"],
 "launch": {"grid": 1, "block": 256}}
*/
// wrong wrong_mask wrong_output: (1u << lane) - 1 -> (2u << lane) - 1
// wrong sub_for_add crashed: before += counts[k] -> before -= counts[k]
// wrong constant wrong_output: *count = before + __popc(ballot) -> *count = 128
// wrong copy_of_input wrong_output: y[before + __popc(ballot & below)] = x[t] -> y[t] = x[t]
__global__ void compact(const int* x, int* y, int* count, int n) {
  __shared__ int counts[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  bool keep = x[t] > 0;
  unsigned ballot = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) counts[warp] = __popc(ballot);
  __syncthreads();
  int before = 0;
  for (int k = 0; k < warp; ++k) before += counts[k];
  unsigned below = (1u << lane) - 1;
  if (keep) y[before + __popc(ballot & below)] = x[t];
  if (t == 255) *count = before + __popc(ballot);
}
// reference
__global__ void reference(const int* x, int* y, int* count, int n) {
  *count = 0;
  for (int k = 0; k < n; ++k)
    if (x[k] > 0) y[(*count)++] = x[k];
}
