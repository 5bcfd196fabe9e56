// Single-pass scan with decoupled look-back.
/* contract
{"args": ["in x int32[4096] uniform low=0 high=10", "out y int32[4096]", "inout state uint64[33] zeros"], "launch": {"grid": 32, "block": 128}}
*/
// wrong wrong_type wrong_output: run += (int)(unsigned)z -> run+=(int)(signed char)z
// wrong partial_rows wrong_output: y[b * 128 + t] = s + prefix; -> if(b<31)y[b*128+t]=s+prefix;
__global__ void k(const int* x, int* y, unsigned long long* state) {
  __shared__ int sb, warp[4], prefix;
  if (threadIdx.x == 0) sb = (int)atomicAdd(state + 32, 1ull);
  __syncthreads();
  int b = sb, t = threadIdx.x, l = t & 31, w = t >> 5, v = x[b * 128 + t], s = v;
  for (int o = 1; o < 32; o <<= 1) {
    int u = __shfl_up_sync(~0u, s, o);
    if (l >= o) s += u;
  }
  if (l == 31) warp[w] = s;
  __syncthreads();
  int add = 0;
  for (int i = 0; i < w; ++i) add += warp[i];
  s += add;
  if (t == 127) {
    volatile unsigned long long* st = state;
    int run = 0;
    if (b == 0) {
      __threadfence();
      st[0] = (2ull << 32) | (unsigned)s;
    } else {
      st[b] = (1ull << 32) | (unsigned)s;
      __threadfence();
      for (int p = b - 1;;) {
        unsigned long long z;
        do {
          z = st[p];
        } while ((z >> 32) == 0);
        __threadfence();
        run += (int)(unsigned)z;
        if ((z >> 32) == 2) break;
        --p;
      }
      st[b] = (2ull << 32) | (unsigned)(run + s);
    }
    prefix = run;
  }
  __syncthreads();
  y[b * 128 + t] = s + prefix;
}
// reference
__global__ void reference(const int* x, int* y, unsigned long long* st) {
  int s = 0;
  for (int i = 0; i < 4096; ++i) {
    s += x[i];
    y[i] = s;
    if (i % 128 == 127) st[i / 128] = (2ull << 32) | (unsigned)s;
  }
  st[32] = 32;
}
