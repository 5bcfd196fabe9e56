// LSD radix sort of a block by ballot ranks.
/* contract
{"args": ["in x uint32[256] uniform low=0 high=100000", "out y uint32[256]"], "launch": {"grid": 1, "block": 256}}
*/
// wrong wrong_condition wrong_output: sh < 32 -> sh<16
// wrong wrong_rank wrong_output: + rank] = v -> +0]=v
__global__ void k(const unsigned* x, unsigned* y) {
  __shared__ unsigned s[256], cnt[8][16], base[16];
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  unsigned v = x[t];
  for (int sh = 0; sh < 32; sh += 4) {
    if (l < 16) cnt[w][l] = 0;
    __syncwarp();
    unsigned d = v >> sh & 15;
    unsigned peers = __match_any_sync(~0u, d);
    unsigned rank = __popc(peers & ((1u << l) - 1));
    if (rank == 0) cnt[w][d] = __popc(peers);
    __syncthreads();
    if (t < 16) {
      unsigned sum = 0;
      for (int i = 0; i < 8; ++i) {
        unsigned c = cnt[i][t];
        cnt[i][t] = sum;
        sum += c;
      }
      unsigned inc = sum;
      for (int o = 1; o < 16; o <<= 1) {
        unsigned u = __shfl_up_sync(0xffff, inc, o, 16);
        if (t >= o) inc += u;
      }
      base[t] = inc - sum;
    }
    __syncthreads();
    s[base[d] + cnt[w][d] + rank] = v;
    __syncthreads();
    v = s[t];
    __syncthreads();
  }
  y[t] = v;
}
// reference
__global__ void reference(const unsigned* x, unsigned* y) {
  for (int i = 0; i < 256; ++i) {
    int p = 0;
    for (int j = 0; j < 256; ++j) p += x[j] < x[i] || (x[j] == x[i] && j < i);
    y[p] = x[i];
  }
}
