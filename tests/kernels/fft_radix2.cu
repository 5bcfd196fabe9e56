// Eight-point transforms of rows.
/* contract
{"args": ["in x float32[rows,16]", "out y float32[rows,16] atol=1e-4", "int rows = 40"],
 "launch": {"grid": "rows", "block": 4}}
*/
// tolerance: twiddle factors in single precision
// wrong sub_for_add wrong_output: re[p] = ar + br; -> re[p] = ar - br;
// wrong wrong_order wrong_output: re[__brev(i) >> 29] = x -> re[i] = x
__global__ void fft_radix2(const float* x, float* y, int rows) {
  __shared__ float re[8], im[8];
  int r = blockIdx.x, t = threadIdx.x;
  for (int i = t; i < 8; i += 4) {
    re[__brev(i) >> 29] = x[r * 16 + 2 * i];
    im[__brev(i) >> 29] = x[r * 16 + 2 * i + 1];
  }
  __syncthreads();
  for (int half = 1; half < 8; half *= 2) {
    int p = t / half * 2 * half + t % half, q = p + half;
    float s, c;
    sincospif(-(float)(t % half) / half, &s, &c);
    float ar = re[p], ai = im[p], br = re[q] * c - im[q] * s, bi = re[q] * s + im[q] * c;
    re[p] = ar + br;
    im[p] = ai + bi;
    re[q] = ar - br;
    im[q] = ai - bi;
    __syncthreads();
  }
  for (int i = t; i < 8; i += 4) { y[r * 16 + 2 * i] = re[i]; y[r * 16 + 2 * i + 1] = im[i]; }
}
// reference
__global__ void reference(const float* x, float* y, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < 8; ++k) {
      double a = 0, b = 0;
      for (int i = 0; i < 8; ++i) {
        double c = cospi(-i * k / 4.0), s = sinpi(-i * k / 4.0);
        a += x[r * 16 + 2 * i] * c - x[r * 16 + 2 * i + 1] * s;
        b += x[r * 16 + 2 * i] * s + x[r * 16 + 2 * i + 1] * c;
      }
      y[r * 16 + 2 * k] = (float)a;
      y[r * 16 + 2 * k + 1] = (float)b;
    }
}
