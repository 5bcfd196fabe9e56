// Each block sorts 512 keys by cub::BlockRadixSort and gives their running sums by cub::BlockScan.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
/* contract
{"args": ["in x int32[blocks,512] uniform low=-1000 high=1000", "out sorted int32[blocks,512]", "out sums int32[blocks,512]",
          "int blocks = 3"],
 "launch": {"grid": "blocks", "block": 128}}
*/
// wrong wrong_order wrong_output: .Sort(keys) -> .SortDescending(keys)
// wrong exclusive wrong_output: .InclusiveSum(keys, keys) -> .ExclusiveSum(keys, keys)
__global__ void cub_block_sort(const int* x, int* sorted, int* sums, int blocks) {
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union { typename Sort::TempStorage sort; typename Scan::TempStorage scan; } storage;
  int keys[4];
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * 512, keys);
  Sort(storage.sort).Sort(keys);
  __syncthreads();
  for (int k = 0; k < 4; ++k) sorted[blockIdx.x * 512 + threadIdx.x * 4 + k] = keys[k];
  Scan(storage.scan).InclusiveSum(keys, keys);
  for (int k = 0; k < 4; ++k) sums[blockIdx.x * 512 + threadIdx.x * 4 + k] = keys[k];
}
// reference
__global__ void reference(const int* x, int* sorted, int* sums, int blocks) {
  for (int b = 0; b < blocks; ++b) {
    int* y = sorted + b * 512;
    for (int i = 0; i < 512; ++i) {
      int v = x[b * 512 + i], j = i;
      for (; j > 0 && y[j - 1] > v; --j) y[j] = y[j - 1];
      y[j] = v;
    }
    int sum = 0;
    for (int i = 0; i < 512; ++i) sums[b * 512 + i] = sum += y[i];
  }
}
