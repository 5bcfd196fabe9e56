// Batch norm with given statistics, channels in the middle.
/* contract
{"args": ["in x float32[n,c,hw]", "in mean float32[c]", "in var float32[c] uniform low=0.5 high=2", "out y float32[n,c,hw] atol=1e-4 rtol=1e-4", "int n = 3", "int c = 5", "int hw = 49"],
 "launch": {"grid": "ceildiv(n * c * hw, 256)", "block": 256}}
*/
// tolerance: rsqrt is approximate
// wrong wrong_stride wrong_output: i / hw % c -> i % c
// wrong missing_tail wrong_output: if (i >= n * c * hw) return; -> if (i >= n * c * hw - 40) return;
__global__ void batchnorm_inference(const float* x, const float* mean, const float* var, float* y, int n, int c, int hw) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * c * hw) return;
  int channel = i / hw % c;
  y[i] = (x[i] - mean[channel]) * rsqrtf(var[channel] + 1e-5f);
}
// reference
__global__ void reference(const float* x, const float* mean, const float* var, float* y, int n, int c, int hw) {
  for (int b = 0; b < n; ++b)
    for (int k = 0; k < c; ++k)
      for (int p = 0; p < hw; ++p) {
        int i = (b * c + k) * hw + p;
        y[i] = (float)((x[i] - (double)mean[k]) / sqrt((double)var[k] + 1e-5));
      }
}
