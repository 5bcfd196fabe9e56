// Mean and variance of rows by Welford's update, merged between lanes.
/* contract
{"args": ["in x float32[rows,columns]", "out mean float32[rows] atol=1e-4", "out variance float32[rows] atol=1e-3", "int rows = 20", "int columns = 200"],
 "launch": {"grid": "rows", "block": 32}}
*/
// tolerance: running means against two passes in double precision
// wrong unmerged wrong_output: m2 += om2 + -> m2 +=
// wrong missing_tail wrong_output: c < columns; -> c < columns - 20;
__global__ void variance_welford(const float* x, float* mean, float* variance, int rows, int columns) {
  float count = 0, m = 0, m2 = 0;
  for (int c = threadIdx.x; c < columns; c += 32) {
    float v = x[blockIdx.x * columns + c];
    count += 1;
    float delta = v - m;
    m += delta / count;
    m2 += delta * (v - m);
  }
  for (int d = 16; d > 0; d /= 2) {
    float oc = __shfl_xor_sync(~0u, count, d), om = __shfl_xor_sync(~0u, m, d), om2 = __shfl_xor_sync(~0u, m2, d);
    float all = count + oc, delta = om - m;
    m = (m * count + om * oc) / all;
    m2 += om2 + delta * delta * count * oc / all;
    count = all;
  }
  if (threadIdx.x == 0) { mean[blockIdx.x] = m; variance[blockIdx.x] = m2 / columns; }
}
// reference
__global__ void reference(const float* x, float* mean, float* variance, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    double s = 0, q = 0;
    for (int c = 0; c < columns; ++c) s += x[r * columns + c];
    s /= columns;
    for (int c = 0; c < columns; ++c) q += (x[r * columns + c] - s) * (x[r * columns + c] - s);
    mean[r] = (float)s;
    variance[r] = (float)(q / columns);
  }
}
