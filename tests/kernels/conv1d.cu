// 1D convolution with zero borders; the block's piece and its halo in shared memory.
/* contract
{"args": ["in x float32[n]", "in filter float32[7]", "out y float32[n]", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 64)", "block": 64}}
*/
// wrong missing_barrier passed+order_of_warps: __syncthreads(); ->
// wrong missing_halo wrong_output: if (t < 6) -> if (t < 3)
// wrong flipped_filter wrong_output: filter[j] -> filter[6 - j]
// wrong missing_tail wrong_output+unwritten: if (i < n) y[i] = sum -> if (i < n - n % 64) y[i] = sum
// wrong copy_of_input wrong_output: y[i] = sum -> y[i] = piece[t + 3]
__global__ void conv1d(const float* x, const float* filter, float* y, int n) {
  __shared__ float piece[64 + 6];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  int from = i - 3;
  piece[t] = from >= 0 && from < n ? x[from] : 0.0f;
  if (t < 6) piece[t + 64] = from + 64 < n ? x[from + 64] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < 7; ++j) sum += piece[t + j] * filter[j];
  if (i < n) y[i] = sum;
}
// reference
__global__ void reference(const float* x, const float* filter, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = -3; j <= 3; ++j)
      if (i + j >= 0 && i + j < n) sum += (double)x[i + j] * filter[j + 3];
    y[i] = (float)sum;
  }
}
