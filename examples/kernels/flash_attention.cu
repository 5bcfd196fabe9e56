// Causal attention without the score matrix: keys and values pass through shared memory in tiles of 32,
// each thread keeps one query's running maximum, sum and output. Dynamic shared memory: two tiles.
constexpr int kWidth = 32;
constexpr int kKeys = 32;

__global__ void flash_attention(const float* q, const float* k, const float* v, float* o, int tokens, float scale) {
  extern __shared__ float tiles[];
  float* keys = tiles;
  float* values = tiles + kKeys * kWidth;
  int t = threadIdx.x;
  int query = blockIdx.x * blockDim.x + t;
  size_t head = (size_t)blockIdx.y * tokens * kWidth;
  float mine[kWidth], out[kWidth] = {};
  for (int d = 0; d < kWidth; ++d) mine[d] = query < tokens ? q[head + query * kWidth + d] * scale : 0.0f;
  float top = -1e30f, sum = 0.0f;
  int last = min(tokens, (int)((blockIdx.x + 1) * blockDim.x));
  for (int first = 0; first < last; first += kKeys) {
    for (int e = t; e < kKeys * kWidth; e += blockDim.x) {
      bool inside = first + e / kWidth < tokens;
      keys[e] = inside ? k[head + first * kWidth + e] : 0.0f;
      values[e] = inside ? v[head + first * kWidth + e] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < kKeys && first + j <= query; ++j) {
      float score = 0.0f;
      for (int d = 0; d < kWidth; ++d) score += mine[d] * keys[j * kWidth + d];
      float up = fmaxf(top, score);
      float old = __expf(top - up), fresh = __expf(score - up);
      sum = sum * old + fresh;
      for (int d = 0; d < kWidth; ++d) out[d] = out[d] * old + fresh * values[j * kWidth + d];
      top = up;
    }
    __syncthreads();
  }
  if (query < tokens)
    for (int d = 0; d < kWidth; ++d) o[head + query * kWidth + d] = out[d] / sum;
}
