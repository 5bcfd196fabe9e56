// Where in a row of pixels a patch fits best: sums of absolute differences, four bytes at a time.
/* contract
{"args": ["in image uint8[rows,80] uniform low=0 high=255", "in patch uint8[16] uniform low=0 high=255",
          "out best int32[rows]", "out cost uint32[rows]", "int rows = 40"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong wrong_type wrong_output: __vsadu4 -> __vsads4
// wrong partial_rows wrong_output: i < 4 -> i < 3
// wrong sub_for_add wrong_output: sum += __vsadu4 -> sum -= __vsadu4
__global__ void block_matching(const unsigned char* image, const unsigned char* patch, int* best, unsigned* cost,
                               int rows) {
  __shared__ unsigned long long least;
  if (threadIdx.x == 0) least = ~0ull;
  __syncthreads();
  const unsigned char* row = image + blockIdx.x * 80;
  const unsigned* wanted = reinterpret_cast<const unsigned*>(patch);
  unsigned at = threadIdx.x, sum = 0;
  const unsigned* words = reinterpret_cast<const unsigned*>(row + at / 4 * 4);
  for (int i = 0; i < 4; ++i) {
    unsigned here = __funnelshift_r(words[i], words[i + 1], at % 4 * 8);
    sum += __vsadu4(here, wanted[i]);
  }
  atomicMin(&least, (unsigned long long)sum << 32 | at);
  __syncthreads();
  if (threadIdx.x != 0) return;
  best[blockIdx.x] = static_cast<int>(least & 0xFFFFFFFFu);
  cost[blockIdx.x] = static_cast<unsigned>(least >> 32);
}
// reference
__global__ void reference(const unsigned char* image, const unsigned char* patch, int* best, unsigned* cost, int rows) {
  for (int r = 0; r < rows; ++r) {
    int place = -1;
    unsigned lowest = 1u << 30;
    for (int at = 0; at < 64; ++at) {
      unsigned sum = 0;
      for (int i = 0; i < 16; ++i) sum += abs(image[r * 80 + at + i] - patch[i]);
      if (sum < lowest) lowest = sum, place = at;
    }
    best[r] = place;
    cost[r] = lowest;
  }
}
