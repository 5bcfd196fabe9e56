// Softmax of the lower triangle, zero above it.
/* contract
{"args": ["in x float32[n,n]", "out y float32[n,n] atol=1e-4", "int n = 60"],
 "launch": {"grid": "n", "block": 64}}
*/
// tolerance: exponentials in single precision
// wrong not_causal wrong_output: c <= r ? -> c < n ?
// wrong off_by_one wrong_output: c <= r; c += 64) sum -> c < r; c += 64) sum
__global__ void causal_softmax(const float* x, float* y, int n) {
  __shared__ float s[64];
  int r = blockIdx.x, t = threadIdx.x;
  float most = -1e30f, sum = 0;
  for (int c = t; c <= r; c += 64) most = fmaxf(most, x[r * n + c]);
  s[t] = most;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) { if (t < d) s[t] = fmaxf(s[t], s[t + d]); __syncthreads(); }
  most = s[0];
  __syncthreads();
  for (int c = t; c <= r; c += 64) sum += expf(x[r * n + c] - most);
  s[t] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  for (int c = t; c < n; c += 64) y[r * n + c] = c <= r ? expf(x[r * n + c] - most) / s[0] : 0.0f;
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  for (int r = 0; r < n; ++r) {
    double sum = 0;
    for (int c = 0; c <= r; ++c) sum += exp((double)x[r * n + c]);
    for (int c = 0; c < n; ++c) y[r * n + c] = c > r ? 0.0f : (float)(exp((double)x[r * n + c]) / sum);
  }
}
