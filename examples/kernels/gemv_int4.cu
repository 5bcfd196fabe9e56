// y = W x with 4-bit weights, eight to a word, and a scale per group of 32: one warp a row.
__global__ void gemv_int4(const unsigned* packed, const float* scale, const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  int lane = threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int word = lane; word < columns / 8; word += 32) {
    unsigned bits = packed[row * (columns / 8) + word];
    float part = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      int weight = (int)(bits >> (4 * j) & 15) - 8;
      part += weight * x[word * 8 + j];
    }
    sum += part * scale[row * (columns / 32) + word / 4];
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) y[row] = sum;
}
