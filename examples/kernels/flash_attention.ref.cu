// All scores of a query, twice over, in double.
__global__ void reference(const float* q, const float* k, const float* v, float* o, int tokens, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t head = (size_t)blockIdx.y * tokens * 32;
  if (i >= tokens) return;
  double sum = 0, mixed[32] = {};
  for (int j = 0; j <= i; ++j) {
    double dot = 0;
    for (int d = 0; d < 32; ++d) dot += (double)q[head + i * 32 + d] * k[head + j * 32 + d];
    double weight = exp(dot * scale);
    sum += weight;
    for (int d = 0; d < 32; ++d) mixed[d] += weight * v[head + j * 32 + d];
  }
  for (int d = 0; d < 32; ++d) o[head + i * 32 + d] = (float)(mixed[d] / sum);
}
