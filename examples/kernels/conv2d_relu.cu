// 3 x 3 convolution, bias and ReLU in one pass; each block stages its patch of one channel at a time.
__global__ void conv2d_relu(const float* x, const float* weight, const float* bias, float* y, int channels, int h, int w) {
  __shared__ float patch[10][18];
  int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, f = blockIdx.z;
  float sum = bias[f];
  for (int c = 0; c < channels; ++c) {
    for (int e = threadIdx.y * 16 + threadIdx.x; e < 10 * 18; e += 128) {
      int yy = blockIdx.y * 8 + e / 18 - 1, xx = blockIdx.x * 16 + e % 18 - 1;
      bool inside = yy >= 0 && yy < h && xx >= 0 && xx < w;
      patch[e / 18][e % 18] = inside ? x[(c * h + yy) * w + xx] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; ++d)
      sum += patch[threadIdx.y + d / 3][threadIdx.x + d % 3] * weight[(f * channels + c) * 9 + d];
    __syncthreads();
  }
  if (px < w && py < h) y[(f * h + py) * w + px] = fmaxf(sum, 0.0f);
}
