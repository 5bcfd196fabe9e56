// Segmented scan with head flags, warp then block.
/* contract
{"args": ["in x int32[256] uniform low=0 high=9", "in f int32[256] uniform low=0 high=7", "out y int32[256]"], "launch": {"grid": 1, "block": 256}}
*/
// wrong sub_for_add wrong_output: h ? v : v + c -> h?v:v-c
// wrong wrong_condition wrong_output: f[t] == 0 -> f[t]==1
__global__ void k(const int* x, const int* f, int* y) {
  __shared__ int wv[8], wf[8];
  int t = threadIdx.x, l = t & 31, w = t >> 5, v = x[t], h = f[t] == 0;
  for (int o = 1; o < 32; o <<= 1) {
    int u = __shfl_up_sync(~0u, v, o), g = __shfl_up_sync(~0u, h, o);
    if (l >= o) {
      if (!h) v += u;
      h |= g;
    }
  }
  if (l == 31) {
    wv[w] = v;
    wf[w] = h;
  }
  __syncthreads();
  int c = 0;
  for (int i = 0; i < w; ++i) c = wf[i] ? wv[i] : c + wv[i];
  y[t] = h ? v : v + c;
}
// reference
__global__ void reference(const int* x, const int* f, int* y) {
  int s = 0;
  for (int i = 0; i < 256; ++i) {
    s = f[i] == 0 ? x[i] : s + x[i];
    y[i] = s;
  }
}
