// Odd-even transposition sort in shared memory.
/* contract
{"args": ["in x int32[128] uniform low=-1000 high=1000", "out y int32[128]"],
 "launch": {"grid": 1, "block": 128}}
*/
// wrong too_few_rounds wrong_output: r < 128; -> r < 40;
// wrong wrong_type wrong_output: s[i] > s[i + 1] -> (unsigned)s[i] > (unsigned)s[i + 1]
__global__ void odd_even_sort(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int r = 0; r < 128; ++r) {
    int i = 2 * t + r % 2;
    if (i + 1 < 128 && s[i] > s[i + 1]) { int v = s[i]; s[i] = s[i + 1]; s[i + 1] = v; }
    __syncthreads();
  }
  y[t] = s[t];
}
// reference
__global__ void reference(const int* x, int* y) {
  for (int i = 0; i < 128; ++i) {
    int rank = 0;
    for (int j = 0; j < 128; ++j) rank += x[j] < x[i] || (x[j] == x[i] && j < i);
    y[rank] = x[i];
  }
}
