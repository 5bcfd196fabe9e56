__global__ void reference(const float* x, const float* weight, const float* bias, float* y, int channels, int h, int w) {
  int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, f = blockIdx.z;
  if (px >= w || py >= h) return;
  double sum = bias[f];
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      for (int c = 0; c < channels; ++c)
        if (py + dy >= 0 && py + dy < h && px + dx >= 0 && px + dx < w)
          sum += (double)x[c * h * w + (py + dy) * w + px + dx] * weight[f * channels * 9 + c * 9 + 3 * dy + dx + 4];
  y[f * h * w + py * w + px] = sum > 0 ? (float)sum : 0.0f;
}
