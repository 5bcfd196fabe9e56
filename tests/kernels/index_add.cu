// Rows added into a table by atomics.
/* contract
{"args": ["in x float32[n,8]", "in at int32[n] uniform low=0 high=9", "inout table float32[10,8] atol=1e-3", "int n = 120"],
 "launch": {"grid": "n", "block": 8}}
*/
// tolerance: the order of the sum differs
// wrong lost_updates wrong_output: atomicAdd(&table[at[i] * 8 + c], x[i * 8 + c]) -> table[at[i] * 8 + c] = x[i * 8 + c]
// wrong wrong_stride wrong_output: at[i] * 8 + c], -> i % 10 * 8 + c],
__global__ void index_add(const float* x, const int* at, float* table, int n) {
  int i = blockIdx.x, c = threadIdx.x;
  atomicAdd(&table[at[i] * 8 + c], x[i * 8 + c]);
}
// reference
__global__ void reference(const float* x, const int* at, float* table, int n) {
  for (int r = 0; r < 10; ++r)
    for (int c = 0; c < 8; ++c) {
      double s = table[r * 8 + c];
      for (int i = 0; i < n; ++i) if (at[i] == r) s += x[i * 8 + c];
      table[r * 8 + c] = (float)s;
    }
}
