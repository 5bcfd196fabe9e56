// cg::labeled_partition, binary_partition, invoke_one-like use.
/* contract
{"args": ["in x int32[128] uniform low=0 high=5", "out y int32[128]", "out w int32[128]"], "launch": {"grid": 1, "block": 128}}
*/
// wrong wrong_condition wrong_output: (x[i] & 1) != 0 -> (x[i]&2)!=0
// wrong sub_for_add wrong_output: * 100 + -> *100-
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const int* x, int* y, int* w) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int i = threadIdx.x;
  auto g = cg::labeled_partition(tile, x[i]);
  y[i] = cg::reduce(g, i, cg::greater<int>());
  auto h = cg::binary_partition(tile, (x[i] & 1) != 0);
  w[i] = (int)h.size() * 100 + (int)h.thread_rank();
}
// reference
__global__ void reference(const int* x, int* y, int* w) {
  for (int i = 0; i < 128; ++i) {
    int m = -1, n = 0, r = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      if (x[j] == x[i] && j > m) m = j;
      if ((x[j] & 1) == (x[i] & 1)) {
        ++n;
        r += j < i;
      }
    }
    y[i] = m;
    w[i] = n * 100 + r;
  }
}
