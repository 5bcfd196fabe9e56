// Causal attention of one head, one warp a query, scores in dynamic shared memory.
/* contract
{"args": ["in q float32[tokens,width]", "in k float32[tokens,width]", "in v float32[tokens,width]", "out o float32[tokens,width]",
          "int tokens = 24", "int width = 16", "float scale = 0.25"],
 "launch": {"grid": "tokens", "block": 32, "shared_mem_bytes": 96}}
*/
// wrong not_causal wrong_output: last = i; -> last = tokens - 1;
// wrong swapped_arguments wrong_output: const float* q, const float* k -> const float* k, const float* q
// wrong swapped_arguments/keys wrong_output: const float* k, const float* v -> const float* v, const float* k
// wrong constant wrong_output: dot * scale -> dot * 1.0f
// wrong partial_rows wrong_output+unwritten: int i = blockIdx.x -> int i = blockIdx.x / 2 * 2
extern __shared__ float score[];
__global__ void attention(const float* q, const float* k, const float* v, float* o, int tokens, int width, float scale) {
  int i = blockIdx.x, lane = threadIdx.x;
  int last = i;
  float top = -1e30f, sum = 0.0f;
  for (int j = lane; j <= last; j += 32) {
    float dot = 0.0f;
    for (int d = 0; d < width; ++d) dot += q[i * width + d] * k[j * width + d];
    score[j] = dot * scale;
    top = fmaxf(top, score[j]);
  }
  for (int m = 16; m > 0; m >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, m));
  __syncwarp();
  for (int j = 0; j <= last; ++j) sum += __expf(score[j] - top);
  for (int d = lane; d < width; d += 32) {
    float mixed = 0.0f;
    for (int j = 0; j <= last; ++j) mixed += __expf(score[j] - top) * v[j * width + d];
    o[i * width + d] = mixed / sum;
  }
}
// reference
__global__ void reference(const float* q, const float* k, const float* v, float* o, int tokens, int width, float scale) {
  for (int i = 0; i < tokens; ++i) {
    double sum = 0, mixed[16] = {};
    for (int j = 0; j <= i; ++j) {
      double dot = 0;
      for (int d = 0; d < width; ++d) dot += (double)q[i * width + d] * k[j * width + d];
      sum += exp(dot / 4);
      for (int d = 0; d < width; ++d) mixed[d] += exp(dot / 4) * v[j * width + d];
    }
    for (int d = 0; d < width; ++d) o[i * width + d] = (float)(mixed[d] / sum);
  }
}
