// 2D convolution NCHW, 3 x 3, stride 1, zero padding, several channels.
/* contract
{"args": ["in x float32[channels,h,w]", "in weight float32[filters,channels,3,3]", "in bias float32[filters]",
          "out y float32[filters,h,w]", "int channels = 2", "int filters = 3", "int h = 9", "int w = 13"],
 "launch": {"grid": ["ceildiv(w, 8)", "ceildiv(h, 8)", "filters"], "block": [8, 8]}}
*/
// wrong wrong_stride wrong_output: x[(c * h + yy) * w + xx] -> x[(c * w + yy) * h + xx]
// wrong wrong_padding wrong_output: yy >= 0 && -> yy >= 1 &&
// wrong sub_for_add wrong_output: float sum = bias[f] -> float sum = -bias[f]
// wrong flipped_filter wrong_output: (dy + 1) * 3 + dx + 1 -> (dx + 1) * 3 + dy + 1
// wrong missing_channel wrong_output: c < channels -> c < channels - 1
__global__ void conv2d(const float* x, const float* weight, const float* bias, float* y, int channels, int filters,
                       int h, int w) {
  int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, f = blockIdx.z;
  if (px >= w || py >= h) return;
  float sum = bias[f];
  for (int c = 0; c < channels; ++c) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        int yy = py + dy, xx = px + dx;
        if (yy >= 0 && yy < h && xx >= 0 && xx < w)
          sum += x[(c * h + yy) * w + xx] * weight[(f * channels + c) * 9 + (dy + 1) * 3 + dx + 1];
      }
    }
  }
  y[(f * h + py) * w + px] = sum;
}
// reference
__global__ void reference(const float* x, const float* weight, const float* bias, float* y, int channels, int filters,
                          int h, int w) {
  for (int e = 0; e < filters * h * w; ++e) y[e] = bias[e / (h * w)];
  for (int e = 0; e < filters * channels * 9; ++e) {
    int dx = e % 3 - 1, dy = e / 3 % 3 - 1, c = e / 9 % channels, f = e / 9 / channels;
    for (int p = 0; p < h * w; ++p) {
      int yy = p / w + dy, xx = p % w + dx;
      if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
      y[f * h * w + p] += weight[e] * x[c * h * w + yy * w + xx];
    }
  }
}
