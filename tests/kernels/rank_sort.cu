// Sort by counting smaller elements.
/* contract
{"args": ["in x float32[n]", "out y float32[n]", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong ties wrong_output: x[j] < v || -> x[j] <= v ||
// wrong missing_tail wrong_output: if (i >= n) return; -> if (i >= n - 9) return;
__global__ void rank_sort(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  int rank = 0;
  for (int j = 0; j < n; ++j) rank += x[j] < v || (x[j] == v && j < i);
  if (rank < n) y[rank] = v;
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    int j = i;
    for (; j > 0 && y[j - 1] > x[i]; --j) y[j] = y[j - 1];
    y[j] = x[i];
  }
}
