// Graph BFS levels in one block with a queue in shared memory.
/* contract
{"args": ["in nb int32[128,4] uniform low=0 high=127", "out dist int32[128]"], "launch": {"grid": 1, "block": 128}}
*/
// wrong partial_rows wrong_output: if (t < m) -> if (t < m - 1)
// wrong constant wrong_output: , -1, level) -> ,-1,1)
__global__ void k(const int* nb, int* dist) {
  __shared__ int d[128], q[2][128], n[2];
  int t = threadIdx.x;
  d[t] = t == 0 ? 0 : -1;
  if (t == 0) {
    n[0] = 1;
    n[1] = 0;
    q[0][0] = 0;
  }
  __syncthreads();
  for (int cur = 0, level = 1;; cur ^= 1, ++level) {
    int m = n[cur];
    if (m == 0) break;
    if (t < m) {
      int u = q[cur][t];
      for (int i = 0; i < 4; ++i) {
        int v = nb[u * 4 + i];
        if (atomicCAS(&d[v], -1, level) == -1) q[cur ^ 1][atomicAdd(&n[cur ^ 1], 1)] = v;
      }
    }
    __syncthreads();
    if (t == 0) n[cur] = 0;
    __syncthreads();
  }
  dist[t] = d[t];
}
// reference
__global__ void reference(const int* nb, int* dist) {
  for (int i = 0; i < 128; ++i) dist[i] = i == 0 ? 0 : -1;
  for (int l = 0; l < 128; ++l)
    for (int u = 0; u < 128; ++u)
      if (dist[u] == l)
        for (int i = 0; i < 4; ++i)
          if (dist[nb[u * 4 + i]] < 0) dist[nb[u * 4 + i]] = l + 1;
}
