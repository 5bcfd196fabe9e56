// C = A B with float4 loads and 4x4 results per thread.
/* contract
{"args": ["in a float32[64,32]", "in b float32[32,64]", "out c float32[64,64] atol=1e-3"],
 "launch": {"grid": 1, "block": 256}}
*/
// tolerance: sums in single precision
// wrong wrong_row wrong_output: row = threadIdx.x / 16 * 4 -> row = threadIdx.x / 16 * 4 % 60
// wrong sub_for_add wrong_output: sum[i].w += x * v.w -> sum[i].w -= x * v.w
__global__ void sgemm_vectorised(const float* a, const float* b, float* c) {
  int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
  float4 sum[4] = {};
  for (int k = 0; k < 32; ++k) {
    float4 v = *(const float4*)(b + k * 64 + column);
    for (int i = 0; i < 4; ++i) {
      float x = a[(row + i) * 32 + k];
      sum[i].x += x * v.x;
      sum[i].y += x * v.y;
      sum[i].z += x * v.z;
      sum[i].w += x * v.w;
    }
  }
  for (int i = 0; i < 4; ++i) *(float4*)(c + (row + i) * 64 + column) = sum[i];
}
// reference
__global__ void reference(const float* a, const float* b, float* c) {
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) {
      double s = 0;
      for (int k = 0; k < 32; ++k) s += (double)a[i * 32 + k] * b[k * 64 + j];
      c[i * 64 + j] = (float)s;
    }
}
