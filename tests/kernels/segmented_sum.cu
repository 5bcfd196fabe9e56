// Sums of segments given by offsets, a warp each.
/* contract
{"args": ["in x float32[n]", "in starts int32[segments] arange step=37", "out y float32[segments] atol=1e-4", "int n = 740", "int segments = 20"],
 "launch": {"grid": "segments", "block": 32}}
*/
// tolerance: the order of the sum differs
// wrong wrong_end wrong_output: starts[s + 1] : n -> starts[s + 1] - 1 : n
// wrong missing_tail wrong_output: i < end; -> i < end / 32 * 32;
__global__ void segmented_sum(const float* x, const int* starts, float* y, int n, int segments) {
  int s = blockIdx.x;
  int end = s + 1 < segments ? starts[s + 1] : n;
  float sum = 0;
  for (int i = starts[s] + threadIdx.x; i < end; i += 32) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[s] = sum;
}
// reference
__global__ void reference(const float* x, const int* starts, float* y, int n, int segments) {
  for (int s = 0; s < segments; ++s) {
    double sum = 0;
    for (int i = starts[s]; i < (s + 1 < segments ? starts[s + 1] : n); ++i) sum += x[i];
    y[s] = (float)sum;
  }
}
