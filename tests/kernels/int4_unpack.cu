// Two 4-bit integers per byte to floats, with a scale per group.
/* contract
{"args": ["in q uint8[n] uniform low=0 high=255", "in scale float32[groups] uniform low=0.5 high=2", "out y float32[n,2]", "int n = 600", "int groups = 10"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// wrong swapped_arguments wrong_output: (q[i] & 15) -> (q[i] >> 4)
// wrong wrong_type wrong_output: - 8) * s;  // high -> - 7) * s;  // high
__global__ void int4_unpack(const unsigned char* q, const float* scale, float* y, int n, int groups) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = scale[i / (n / groups)];
  int low = (q[i] & 15), high = q[i] / 16;
  y[2 * i] = (low - 8) * s;
  y[2 * i + 1] = (high - 8) * s;  // high
}
// reference
__global__ void reference(const unsigned char* q, const float* scale, float* y, int n, int groups) {
  for (int i = 0; i < n; ++i)
    for (int h = 0; h < 2; ++h) {
      int v = 0;
      for (int b = 0; b < 4; ++b) v += (q[i] >> (4 * h + b) & 1) << b;
      y[2 * i + h] = (float)(v - 8) * scale[i / 60];
    }
}
