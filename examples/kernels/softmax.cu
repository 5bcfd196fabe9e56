// Softmax of each row, one block a row: maximum and sum by warp shuffles, then across warps.
__device__ float across_block(float v, bool is_maximum, float* scratch) {
  for (int o = 16; o > 0; o >>= 1) {
    float other = __shfl_xor_sync(0xffffffffu, v, o);
    v = is_maximum ? fmaxf(v, other) : v + other;
  }
  __syncthreads();  // the scratch of the call before has been read
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < blockDim.x / 32; ++w) v = is_maximum ? fmaxf(v, scratch[w]) : v + scratch[w];
  return v;
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  __shared__ float scratch[32];
  const float* row = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  float top = -3.4e38f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
  top = across_block(top, true, scratch);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float e = expf(row[c] - top);
    out[c] = e;
    sum += e;
  }
  float scale = 1.0f / across_block(sum, false, scratch);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] *= scale;
}
