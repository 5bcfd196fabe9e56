// Top 4 of each row: per-lane insertion, merge by shuffles.
/* contract
{"args": ["in x float32[16,256]", "out v float32[16,4]", "out ix int32[16,4]"], "launch": {"grid": 16, "block": 32}}
*/
// wrong missing_tail wrong_output: c < 256; -> c < 200;
// wrong wrong_condition wrong_output: d = 16; d; d >>= 1 -> d=8;d;d>>=1
__global__ void k(const float* x, float* v, int* ix) {
  float best[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  int bi[4] = {-1, -1, -1, -1};
  for (int c = threadIdx.x; c < 256; c += 32) {
    float f = x[blockIdx.x * 256 + c];
    int i = c;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (f > best[j]) {
        float tf = best[j];
        int ti = bi[j];
        best[j] = f;
        bi[j] = i;
        f = tf;
        i = ti;
      }
  }
  for (int r = 0; r < 4; ++r) {
    float f = best[0];
    int i = bi[0];
    for (int d = 16; d; d >>= 1) {
      float of = __shfl_down_sync(~0u, f, d);
      int oi = __shfl_down_sync(~0u, i, d);
      if (of > f || (of == f && oi < i)) {
        f = of;
        i = oi;
      }
    }
    f = __shfl_sync(~0u, f, 0);
    i = __shfl_sync(~0u, i, 0);
    if (threadIdx.x == 0) {
      v[blockIdx.x * 4 + r] = f;
      ix[blockIdx.x * 4 + r] = i;
    }
    if (bi[0] == i) {
      best[0] = best[1];
      best[1] = best[2];
      best[2] = best[3];
      best[3] = -INFINITY;
      bi[0] = bi[1];
      bi[1] = bi[2];
      bi[2] = bi[3];
      bi[3] = -1;
    }
  }
}
// reference
__global__ void reference(const float* x, float* v, int* ix) {
  for (int r = 0; r < 16; ++r) {
    bool used[256] = {};
    for (int k = 0; k < 4; ++k) {
      int b = -1;
      for (int c = 0; c < 256; ++c)
        if (!used[c] && (b < 0 || x[r * 256 + c] > x[r * 256 + b])) b = c;
      used[b] = true;
      v[r * 4 + k] = x[r * 256 + b];
      ix[r * 4 + k] = b;
    }
  }
}
