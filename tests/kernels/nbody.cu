// Accelerations of bodies, positions in shared tiles.
/* contract
{"args": ["in p float32[n,4] uniform low=-1 high=1", "out a float32[n,3] atol=1e-2 rtol=1e-3", "int n = 128"],
 "launch": {"grid": "n / 64", "block": 64}}
*/
// tolerance: forces in single precision with an approximate root
// wrong missing_barrier wrong_output: __syncthreads();  // filled -> 
// wrong partial_rows wrong_output: tile < n; tile += 64 -> tile < 64; tile += 64
__global__ void nbody(const float4* p, float* a, int n) {
  __shared__ float4 s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 me = p[i];
  float x = 0, y = 0, z = 0;
  for (int tile = 0; tile < n; tile += 64) {
    s[63 - threadIdx.x] = p[tile + threadIdx.x];
    __syncthreads();  // filled
    for (int j = 0; j < 64; ++j) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.1f), f = (s[j].w + 2.0f) * inv * inv * inv;
      x += f * dx;
      y += f * dy;
      z += f * dz;
    }
    __syncthreads();
  }
  a[3 * i] = x;
  a[3 * i + 1] = y;
  a[3 * i + 2] = z;
}
// reference
__global__ void reference(const float* p, float* a, int n) {
  for (int i = 0; i < n; ++i) {
    double s[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      double q = 0.1, d[3];
      for (int k = 0; k < 3; ++k) { d[k] = (double)p[4 * j + k] - p[4 * i + k]; q += d[k] * d[k]; }
      for (int k = 0; k < 3; ++k) s[k] += (p[4 * j + 3] + 2.0) * d[k] / (q * sqrt(q));
    }
    for (int k = 0; k < 3; ++k) a[3 * i + k] = (float)s[k];
  }
}
