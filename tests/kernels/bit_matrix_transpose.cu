// 32x32 bits transposed by a warp with ballots.
/* contract
{"args": ["in x uint32[32] uniform low=0 high=4294967295", "out y uint32[32]"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong wrong_order wrong_output: x[threadIdx.x] >> i & 1 -> x[31 - threadIdx.x] >> i & 1
// wrong partial_rows wrong_output: i < 32; -> i < 31;
__global__ void bit_matrix_transpose(const unsigned* x, unsigned* y) {
  for (int i = 0; i < 32; ++i) {
    unsigned column = __ballot_sync(~0u, x[threadIdx.x] >> i & 1);
    if (threadIdx.x == i) y[i] = column;
  }
}
// reference
__global__ void reference(const unsigned* x, unsigned* y) {
  for (int i = 0; i < 32; ++i) {
    y[i] = 0;
    for (int j = 0; j < 32; ++j) if (x[j] & 1u << i) y[i] |= 1u << j;
  }
}
