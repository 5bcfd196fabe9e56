// 256-point FFT per block, radix 4, four passes through shared memory; sincospif for the twiddles.
/* contract
{"args": ["in x float32[batch,512]", "out y float32[batch,512] atol=2e-3 rtol=1e-3", "int batch = 3"],
 "launch": {"grid": "batch", "block": 64}}
*/
// tolerance: sums of 256 terms in float against double
// wrong missing_barrier passed+order_of_warps: __syncthreads();  // all have read -> ;
// wrong wrong_twiddle wrong_output: -2.0f * k / (4 * span) -> -1.0f * k / (4 * span)
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 quarter(float2 v) { return make_float2(v.y, -v.x); }
__global__ void __launch_bounds__(64) fft_radix4(const float2* __restrict__ x, float2* __restrict__ y, int batch) {
  __shared__ float2 s[256];
  const int t = threadIdx.x;
  float2 v[4];
  for (int r = 0; r < 4; ++r) v[r] = x[blockIdx.x * 256 + t + 64 * r];
#pragma unroll
  for (int span = 1; span < 256; span *= 4) {
    const int k = t % span;
    for (int r = 1; r < 4; ++r) {
      float sine, cosine;
      sincospif(r * (-2.0f * k / (4 * span)), &sine, &cosine);
      v[r] = v[r] * make_float2(cosine, sine);
    }
    float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter(v[1] - v[3]);
    v[0] = a + c; v[1] = b + d; v[2] = a - c; v[3] = b - d;
    const int at = (t - k) * 4 + k;
    __syncthreads();  // all have read
    for (int r = 0; r < 4; ++r) s[at + r * span] = v[r];
    __syncthreads();
    for (int r = 0; r < 4; ++r) v[r] = s[t + 64 * r];
  }
  for (int r = 0; r < 4; ++r) y[blockIdx.x * 256 + t + 64 * r] = v[r];
}
// reference
__global__ void reference(const float* x, float* y, int batch) {
  for (int p = 0; p < batch * 256; ++p) {
    const float* in = x + p / 256 * 512;
    double re = 0, im = 0;
    for (int j = 0; j < 256; ++j) {
      double angle = -2.0 * 3.14159265358979323846 * ((p % 256) * j % 256) / 256;
      re += in[2 * j] * cos(angle) - in[2 * j + 1] * sin(angle);
      im += in[2 * j] * sin(angle) + in[2 * j + 1] * cos(angle);
    }
    y[2 * p] = re;
    y[2 * p + 1] = im;
  }
}
