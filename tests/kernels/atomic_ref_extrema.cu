// Smallest and largest value and their number, by cuda::atomic_ref on plain memory and cuda::std arrays.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/limits>
/* contract
{"args": ["in x int32[n] uniform low=-5000000 high=5000000", "inout out int32[3] zeros", "int n = 900"],
 "launch": {"grid": 4, "block": 96}}
*/
// wrong swapped wrong_output: smallest.fetch_min(mine[0] -> smallest.fetch_max(mine[0]
// wrong counts_too_few wrong_output: i < n; i += -> i < n - 1; i +=
__global__ void atomic_ref_extrema(const int* __restrict__ x, int* out, int n) {
  cuda::std::array<int, 3> mine{cuda::std::numeric_limits<int>::max(), cuda::std::numeric_limits<int>::min(), 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine[0] = mine[0] < x[i] ? mine[0] : x[i];
    mine[1] = mine[1] > x[i] ? mine[1] : x[i];
    mine[2] += 1;
  }
  cuda::atomic_ref<int, cuda::thread_scope_device> smallest(out[0]), largest(out[1]), count(out[2]);
  smallest.fetch_min(mine[0], cuda::memory_order_relaxed);
  largest.fetch_max(mine[1], cuda::memory_order_relaxed);
  count.fetch_add(mine[2], cuda::memory_order_acq_rel);
}
// reference
__global__ void reference(const int* x, int* out, int n) {
  int low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  out[0] = low;
  out[1] = high;
  out[2] = n;
}
