// Reductions of cooperative groups: tiles of eight.
/* contract
{"args": ["in x int32[n] uniform low=-100 high=100", "out most int32[n]", "out sum int32[n]", "int n = 256"],
 "launch": {"grid": 2, "block": 128}}
*/
// wrong wrong_operation wrong_output: cg::greater<int>() -> cg::less<int>()
// wrong wrong_width wrong_output: tiled_partition<8> -> tiled_partition<16>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void cooperative_reduce(const int* x, int* most, int* sum, int n) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = x[i];
  most[i] = cg::reduce(tile, v, cg::greater<int>());
  sum[i] = cg::reduce(tile, v, cg::plus<int>());
}
// reference
__global__ void reference(const int* x, int* most, int* sum, int n) {
  for (int i = 0; i < n; ++i) {
    int m = x[i / 8 * 8], s = 0;
    for (int j = 0; j < 8; ++j) { int v = x[i / 8 * 8 + j]; s += v; if (v > m) m = v; }
    most[i] = m;
    sum[i] = s;
  }
}
