// Edit distance of word pairs along anti-diagonals: three rows of shared memory take turns.
/* contract
{"args": ["in a uint8[pairs,40] uniform low=0 high=3", "in b uint8[pairs,30] uniform low=0 high=3", "out d int32[pairs]",
          "int pairs = 12"],
 "launch": {"grid": "pairs", "block": 64}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // this diagonal is done -> // nothing
// wrong wrong_stride wrong_output: b + blockIdx.x * 30 -> b + blockIdx.x * 29
// wrong sub_for_add wrong_output: before[i - 1] + (x[i - 1] != y[j - 1]) -> before[i - 1] + (x[i - 1] == y[j - 1])
__global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* d, int pairs) {
  __shared__ int rows[3][64];
  const unsigned char *x = a + blockIdx.x * 40, *y = b + blockIdx.x * 30;
  int *before = rows[0], *last = rows[1], *now = rows[2], i = threadIdx.x;
  for (int step = 0; step <= 70; ++step) {
    int j = step - i;
    if (i <= 40 && j >= 0 && j <= 30) {
      int best = i == 0 ? j : i;
      if (i > 0 && j > 0) {
        best = min(last[i], last[i - 1]) + 1;
        best = min(best, before[i - 1] + (x[i - 1] != y[j - 1]));
      }
      now[i] = best;
    }
    __syncthreads();  // this diagonal is done
    int* oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  if (i == 40) d[blockIdx.x] = last[40];
}
// reference
__global__ void reference(const unsigned char* a, const unsigned char* b, int* d, int pairs) {
  for (int p = 0; p < pairs; ++p) {
    int row[31];
    for (int j = 0; j <= 30; ++j) row[j] = j;
    for (int i = 1; i <= 40; ++i) {
      int corner = row[0];
      row[0] = i;
      for (int j = 1; j <= 30; ++j) {
        int up = row[j];
        row[j] = min(min(up, row[j - 1]) + 1, corner + (a[p * 40 + i - 1] != b[p * 30 + j - 1]));
        corner = up;
      }
    }
    d[p] = row[30];
  }
}
