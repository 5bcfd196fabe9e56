// Attention with an online softmax over tiles of keys.
/* contract
{"args": ["in q float32[len,16]", "in key float32[len,16]", "in v float32[len,16]", "out o float32[len,16] atol=1e-3 rtol=1e-3", "int len = 70"],
 "launch": {"grid": "ceildiv(len, 32)", "block": 32}}
*/
// tolerance: exponentials in single precision
// wrong no_rescale wrong_output: out[d] *= fix; -> 
// wrong missing_tail wrong_output: j < len; ++j -> j < len - 6; ++j
__global__ void attention_flash(const float* q, const float* key, const float* v, float* o, int len) {
  __shared__ float ks[16][16], vs[16][16];
  int row = blockIdx.x * 32 + threadIdx.x;
  float out[16] = {}, most = -1e30f, sum = 0;
  for (int tile = 0; tile < len; tile += 16) {
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32) {
      int j = tile + i / 16;
      ks[i / 16][i % 16] = j < len ? key[j * 16 + i % 16] : 0.0f;
      vs[i / 16][i % 16] = j < len ? v[j * 16 + i % 16] : 0.0f;
    }
    __syncthreads();
    if (row >= len) continue;
    for (int j = tile; j < tile + 16 && j < len; ++j) {
      float s = 0;
      for (int d = 0; d < 16; ++d) s += q[row * 16 + d] * ks[j - tile][d];
      s *= 0.25f;
      float top = fmaxf(most, s), fix = expf(most - top), p = expf(s - top);
      sum = sum * fix + p;
      for (int d = 0; d < 16; ++d) {
        out[d] *= fix;
        out[d] += p * vs[j - tile][d];
      }
      most = top;
    }
  }
  if (row < len) for (int d = 0; d < 16; ++d) o[row * 16 + d] = out[d] / sum;
}
// reference
__global__ void reference(const float* q, const float* key, const float* v, float* o, int len) {
  for (int r = 0; r < len; ++r) {
    double most = -1e300, sum = 0, out[16] = {};
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < len; ++j) {
        double s = 0;
        for (int d = 0; d < 16; ++d) s += (double)q[r * 16 + d] * key[j * 16 + d];
        s *= 0.25;
        if (pass == 0) { if (s > most) most = s; continue; }
        sum += exp(s - most);
        for (int d = 0; d < 16; ++d) out[d] += exp(s - most) * v[j * 16 + d];
      }
    for (int d = 0; d < 16; ++d) o[r * 16 + d] = (float)(out[d] / sum);
  }
}
