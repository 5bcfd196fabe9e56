// Cooperative groups: tiles of 16 threads reduce, the block's leader writes.
/* contract
{"args": ["in x float32[n]", "out sums float32[n/16]", "out total float32[1]", "int n = 256"],
 "launch": {"grid": 1, "block": 256}}
*/
// wrong missing_barrier wrong_output: block.sync(); ->
// wrong sub_for_add wrong_output: v += tile.shfl_down(v, o) -> v -= tile.shfl_down(v, o)
// wrong wrong_stride wrong_output: int o = 8 -> int o = 4
// wrong uninitialised wrong_output+unwritten: if (block.thread_rank() == 0) -> if (block.thread_rank() == 256)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void cooperative_tiles(const float* x, float* sums, float* total, int n) {
  __shared__ float part[16];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  float v = x[block.thread_rank()];
  for (int o = 8; o > 0; o /= 2) v += tile.shfl_down(v, o);
  if (tile.thread_rank() == 0) {
    part[tile.meta_group_rank()] = v;
    sums[tile.meta_group_rank()] = v;
  }
  block.sync();
  if (block.thread_rank() == 0) {
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k) sum += part[k];
    *total = sum;
  }
}
// reference
__global__ void reference(const float* x, float* sums, float* total, int n) {
  double all = 0;
  for (int k = 0; k < n / 16; ++k) {
    double sum = 0;
    for (int j = 15; j >= 0; --j) sum += x[16 * k + j];
    sums[k] = (float)sum;
    all += sum;
  }
  *total = (float)all;
}
