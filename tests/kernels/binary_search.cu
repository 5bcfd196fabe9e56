// Position of each query in a sorted table.
/* contract
{"args": ["in table float32[n] arange step=0.5", "in q float32[m] uniform low=-5 high=260", "out at int32[m]", "int n = 500", "int m = 700"],
 "launch": {"grid": "ceildiv(m, 256)", "block": 256}}
*/
// wrong off_by_one wrong_output: low = mid + 1 -> low = mid + 2
// wrong missing_tail wrong_output: if (i >= m) return; -> if (i >= m - 200) return;
__global__ void binary_search(const float* table, const float* q, int* at, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int low = 0, high = n;
  while (low < high) {
    int mid = (low + high) / 2;
    if (table[mid] < q[i]) low = mid + 1; else high = mid;
  }
  at[i] = low;
}
// reference
__global__ void reference(const float* table, const float* q, int* at, int n, int m) {
  for (int i = 0; i < m; ++i) {
    int count = 0;
    for (int j = 0; j < n; ++j) count += table[j] < q[i];
    at[i] = count;
  }
}
