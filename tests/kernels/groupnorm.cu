// Group norm: a block per group of channels.
/* contract
{"args": ["in x float32[channels,size]", "out y float32[channels,size] atol=1e-3 rtol=1e-3", "int channels = 12", "int size = 50"],
 "launch": {"grid": "channels / 4", "block": 128}}
*/
// tolerance: variance by squares in single precision
// wrong wrong_count wrong_output: mean = s[0] / count -> mean = s[0] / size
// wrong wrong_group wrong_output: blockIdx.x * count -> blockIdx.x * count / 2
__global__ void groupnorm(const float* x, float* y, int channels, int size) {
  __shared__ float s[128], q[128];
  int count = 4 * size, t = threadIdx.x;
  const float* from = x + blockIdx.x * count;
  s[t] = q[t] = 0;
  for (int i = t; i < 4 * size; i += 128) { s[t] += from[i]; q[t] += from[i] * from[i]; }
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) { s[t] += s[t + d]; q[t] += q[t + d]; }
    __syncthreads();
  }
  float mean = s[0] / count, inv = rsqrtf(q[0] / count - mean * mean + 1e-5f);
  for (int i = t; i < 4 * size; i += 128) y[blockIdx.x * 4 * size + i] = (from[i] - mean) * inv;
}
// reference
__global__ void reference(const float* x, float* y, int channels, int size) {
  int n = 4 * size;
  for (int g = 0; g < channels / 4; ++g) {
    double m = 0, v = 0;
    for (int i = 0; i < n; ++i) m += x[g * n + i];
    m /= n;
    for (int i = 0; i < n; ++i) v += (x[g * n + i] - m) * (x[g * n + i] - m);
    for (int i = 0; i < n; ++i) y[g * n + i] = (float)((x[g * n + i] - m) / sqrt(v / n + 1e-5));
  }
}
