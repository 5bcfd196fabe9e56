// Best local alignment of each pair of sequences: one block per pair, anti-diagonals, three rolling rows in shared memory.
/* contract
{"args": ["in a int32[pairs,len] uniform low=0 high=4", "in b int32[pairs,len] uniform low=0 high=4", "out best int32[pairs]",
          "int pairs = 5", "int len = 48"],
 "launch": {"grid": "pairs", "block": 64, "shared_mem_bytes": 588}}
*/
// wrong missing_floor wrong_output: max(0, max(diagonal, gap)) -> max(diagonal, gap)
// wrong wrong_gap wrong_output: + -2 -> + -1
__global__ void smith_waterman(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ best, int pairs, int len) {
  extern __shared__ int rows[];
  __shared__ int top;
  const int row = len + 1;
  int* before = rows;
  int* last = rows + row;
  int* now = rows + 2 * row;
  for (int i = threadIdx.x; i < 3 * row; i += blockDim.x) rows[i] = 0;
  if (threadIdx.x == 0) top = 0;
  __syncthreads();
  const int* x = a + blockIdx.x * len;
  const int* y = b + blockIdx.x * len;
  for (int d = 2; d <= 2 * len; ++d) {
    for (int i = threadIdx.x + 1; i <= len; i += blockDim.x) {
      int j = d - i;
      if (j < 1 || j > len) { now[i] = 0; continue; }
      int diagonal = before[i - 1] + (x[i - 1] == y[j - 1] ? 3 : -3);
      int gap = max(last[i - 1], last[i]) + -2;
      int score = max(0, max(diagonal, gap));
      now[i] = score;
      if (score > 0) atomicMax(&top, score);
    }
    __syncthreads();
    int* spare = before;
    before = last;
    last = now;
    now = spare;
  }
  if (threadIdx.x == 0) best[blockIdx.x] = top;
}
// reference
__global__ void reference(const int* a, const int* b, int* best, int pairs, int len) {
  int h[49][49];
  for (int p = 0; p < pairs; ++p) {
    int top = 0;
    for (int i = 0; i <= len; ++i) {
      for (int j = 0; j <= len; ++j) {
        int score = 0;
        if (i > 0 && j > 0) {
          int match = h[i - 1][j - 1] + (a[p * len + i - 1] == b[p * len + j - 1] ? 3 : -3);
          int up = h[i - 1][j] - 2, left = h[i][j - 1] - 2;
          score = match > score ? match : score;
          score = up > score ? up : score;
          score = left > score ? left : score;
        }
        h[i][j] = score;
        top = score > top ? score : top;
      }
    }
    best[p] = top;
  }
}
