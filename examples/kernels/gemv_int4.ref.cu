// One thread a row; nibble by nibble from the bytes.
__global__ void reference(const unsigned char* packed, const float* scale, const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows || threadIdx.x != 0) return;
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    unsigned char byte = packed[(row * columns + c) / 2];
    int nibble = c % 2 ? byte / 16 : byte % 16;
    sum += (double)(nibble - 8) * scale[row * (columns / 32) + c / 32] * x[c];
  }
  y[row] = (float)sum;
}
