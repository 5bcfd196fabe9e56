// 3x3 convolution by Winograd's F(2x2, 3x3): a thread makes two by two outputs from a four by four patch.
/* contract
{"args": ["in x float32[h+2,w+2]", "in k float32[3,3]", "out y float32[h,w] atol=1e-4", "int h = 22", "int w = 30"],
 "launch": {"grid": ["ceildiv(w, 16)", "ceildiv(h, 16)"], "block": [8, 8]}}
*/
// tolerance: the transforms add and subtract before they multiply
// wrong wrong_transform wrong_output: right[r] = v[r][1] - v[r][2] - v[r][3] -> right[r] = v[r][1] + v[r][2] - v[r][3]
// wrong missing_half wrong_output: 0.5f * (u[0][c] - u[1][c] + u[2][c]) -> (u[0][c] - u[1][c] + u[2][c])
template <int N>
__device__ void columns(const float (&d)[4][4], float (&t)[4][4]) {
#pragma unroll
  for (int c = 0; c < N; ++c) {
    t[0][c] = d[0][c] - d[2][c]; t[1][c] = d[1][c] + d[2][c];
    t[2][c] = d[2][c] - d[1][c]; t[3][c] = d[1][c] - d[3][c];
  }
}
__global__ void winograd_conv(const float* __restrict__ x, const float* __restrict__ k, float* __restrict__ y, int h, int w) {
  int column = (blockIdx.x * 8 + threadIdx.x) * 2, row = (blockIdx.y * 8 + threadIdx.y) * 2;
  if (row >= h || column >= w) return;
  float g[4][3], u[3][3];
  for (int r = 0; r < 3; ++r) for (int c = 0; c < 3; ++c) u[r][c] = __ldg(k + r * 3 + c);
  for (int c = 0; c < 3; ++c) {
    g[0][c] = u[0][c];
    g[1][c] = 0.5f * (u[0][c] + u[1][c] + u[2][c]);
    g[2][c] = 0.5f * (u[0][c] - u[1][c] + u[2][c]);
    g[3][c] = u[2][c];
  }
  float d[4][4], t[4][4], v[4][4];
  for (int r = 0; r < 4; ++r) for (int c = 0; c < 4; ++c) d[r][c] = x[(row + r) * (w + 2) + column + c];
  columns<4>(d, t);
  for (int r = 0; r < 4; ++r) {
    float m[4] = {t[r][0] - t[r][2], t[r][1] + t[r][2], t[r][2] - t[r][1], t[r][1] - t[r][3]};
    float a = g[r][0], b = g[r][1], c = g[r][2];
    v[r][0] = m[0] * a;
    v[r][1] = m[1] * 0.5f * (a + b + c);
    v[r][2] = m[2] * 0.5f * (a - b + c);
    v[r][3] = m[3] * c;
  }
  float left[4], right[4];
  for (int r = 0; r < 4; ++r) {
    left[r] = v[r][0] + v[r][1] + v[r][2];
    right[r] = v[r][1] - v[r][2] - v[r][3];
  }
  y[row * w + column] = left[0] + left[1] + left[2];
  if (column + 1 < w) y[row * w + column + 1] = right[0] + right[1] + right[2];
  if (row + 1 >= h) return;
  y[(row + 1) * w + column] = left[1] - left[2] - left[3];
  if (column + 1 < w) y[(row + 1) * w + column + 1] = right[1] - right[2] - right[3];
}
// reference
__global__ void reference(const float* x, const float* k, float* y, int h, int w) {
  for (int p = 0; p < h * w; ++p) {
    double sum = 0;
    for (int i = 0; i < 9; ++i) sum += (double)k[i] * x[(p / w + i / 3) * (w + 2) + p % w + i % 3];
    y[p] = sum;
  }
}
