__global__ void reference(const float* x, float* y, int rows, int columns, int pitch) {
  int r = blockIdx.y * 32 + threadIdx.x;
  if (r >= rows) return;
  for (int c = blockIdx.x * 32 + threadIdx.y; c < min(columns, (int)(blockIdx.x + 1) * 32); c += blockDim.y)
    y[c * rows + r] = x[r * pitch + c];
}
