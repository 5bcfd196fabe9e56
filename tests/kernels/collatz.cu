// Lengths of Collatz sequences: loops of different length in one warp, 64-bit values.
/* contract
{"args": ["in start int64[n] uniform low=1 high=100000", "out steps int32[n]", "int n = 64"],
 "launch": {"grid": 2, "block": 32}}
*/
// wrong endless timed_out: v != 1 -> v != 0
// wrong constant wrong_output: steps[i] = length -> steps[i] = 100
// wrong partial_rows wrong_output+unwritten: if (i < n) -> if (i < n / 2)
__global__ void collatz(const long long* start, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    long long v = start[i];
    int length = 0;
    for (; v != 1; ++length) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    steps[i] = length;
  }
}
// reference
__device__ int length_from(long long v) {
  int length = 0;
  while (v > 1) {
    int zeros = __ffsll(v) - 1;
    v >>= zeros;
    length += zeros;
    if (v > 1) v += (v << 1) + 1, ++length;
  }
  return length;
}
__global__ void reference(const long long* start, int* steps, int n) {
  for (int k = 0; k < n; ++k) steps[k] = length_from(start[k]);
}
