// Average pooling 3 x 3, stride 3, no padding, per channel.
/* contract
{"args": ["in x float32[channels,h,w]", "out y float32[channels,h/3,w/3]", "int channels = 4", "int h = 12", "int w = 18"],
 "launch": {"grid": [1, 1, "channels"], "block": [8, 4]}}
*/
// wrong wrong_divisor wrong_output: sum / 9.0f -> sum / 8.0f
// wrong wrong_stride wrong_output: py * 3 + dy -> py * 2 + dy
// wrong partial_rows wrong_output+unwritten: py < h / 3 -> py < h / 4
// wrong wrong_type wrong_output: float sum -> int sum
// wrong swapped_arguments wrong_output+unwritten: int h, int w) -> int w, int h)
__global__ void avg_pool(const float* x, float* y, int channels, int h, int w) {
  int px = threadIdx.x, py = threadIdx.y, c = blockIdx.z;
  if (px < w / 3 && py < h / 3) {
    float sum = 0;
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) sum += x[(c * h + py * 3 + dy) * w + px * 3 + dx];
    y[(c * (h / 3) + py) * (w / 3) + px] = sum / 9.0f;
  }
}
// reference
__global__ void reference(const float* x, float* y, int channels, int h, int w) {
  for (int e = 0; e < channels * (h / 3) * (w / 3); ++e) {
    double sum = 0;
    for (int d = 0; d < 9; ++d)
      sum += x[e / (w / 3) * 3 * w + d / 3 * w + e % (w / 3) * 3 + d % 3];
    y[e] = (float)(sum / 9);
  }
}
