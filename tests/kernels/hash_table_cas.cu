// Counts of keys in an open-addressing table: insertion by atomicCAS, linear probing, then look-up of every key.
/* contract
{"args": ["in keys int32[n] uniform low=0 high=150", "out counts int32[n]", "int n = 400"],
 "launch": {"grid": 1, "block": 128}}
*/
// wrong counted_twice wrong_output: atomicAdd(&table[256 + slot], 1) -> atomicAdd(&table[256 + slot], 2)
// wrong wrong_key wrong_output: while (table[slot] != key) -> while (table[slot] == 0)
__device__ unsigned mixed(unsigned k) {
  k ^= k >> 16; k *= 0x85ebca6bu; k ^= k >> 13; k *= 0xc2b2ae35u; k ^= k >> 16;
  return k;
}
__global__ void hash_table_cas(const int* __restrict__ keys, int* __restrict__ counts, int n) {
  __shared__ int table[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) table[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int key = keys[i] + 1;
    unsigned slot = mixed(key) & 255;
    for (;;) {
      int seen = atomicCAS(&table[slot], 0, key);
      if (seen == 0 || seen == key) break;
      slot = (slot + 1) & 255;
    }
    atomicAdd(&table[256 + slot], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int key = keys[i] + 1;
    unsigned slot = mixed(key) & 255;
    while (table[slot] != key) slot = (slot + 1) % 256;
    counts[i] = table[256 + slot];
  }
}
// reference
__global__ void reference(const int* keys, int* counts, int n) {
  for (int i = 0; i < n; ++i) {
    int count = 0;
    for (int j = 0; j < n; ++j) count += keys[j] == keys[i];
    counts[i] = count;
  }
}
