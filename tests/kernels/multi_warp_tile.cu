// Sums and shuffles of groups of two warps, which keep what they share in the system's own shared memory.
/* contract
{"args": ["in x float32[blocks,256]", "out sums float32[blocks,4] atol=1e-4", "out turned float32[blocks,256]", "int blocks = 5"],
 "launch": {"grid": 5, "block": 256}}
*/
// tolerance: a sum of 64 in another order
// wrong one_warp wrong_output: tiled_partition<64>(block) -> tiled_partition<32>(block)
// wrong wrong_operation wrong_output: cg::plus<float> -> cg::greater<float>
// wrong wrong_lane wrong_output: tile.thread_rank() + 33 -> tile.thread_rank() + 32
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void multi_warp_tile(const float* x, float* sums, float* turned, int blocks) {
  __shared__ cg::block_tile_memory<256> scratch;
  __shared__ float kept[256];
  auto block = cg::this_thread_block(scratch);
  auto tile = cg::tiled_partition<64>(block);
  int t = threadIdx.x;
  float v = x[blockIdx.x * 256 + t];
  kept[t] = v;
  float sum = cg::reduce(tile, v, cg::plus<float>());
  if (tile.thread_rank() == 0) sums[blockIdx.x * 4 + t / 64] = sum;
  tile.sync();
  turned[blockIdx.x * 256 + t] = kept[t / 64 * 64 + (tile.thread_rank() + 33) % 64];
}
// reference
__global__ void reference(const float* x, float* sums, float* turned, int blocks) {
  for (int b = 0; b < blocks; ++b)
    for (int g = 0; g < 4; ++g) {
      double s = 0;
      for (int i = 0; i < 64; ++i) {
        s += x[b * 256 + g * 64 + i];
        turned[b * 256 + g * 64 + i] = x[b * 256 + g * 64 + (i + 33) % 64];
      }
      sums[b * 4 + g] = (float)s;
    }
}
