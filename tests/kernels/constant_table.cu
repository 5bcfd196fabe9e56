// A __constant__ table: piecewise linear interpolation, and a polynomial's coefficients.
/* contract
{"args": ["in x float32[n] uniform low=-1 high=9", "out y float32[n]", "int n = 350"],
 "launch": {"grid": 3, "block": 128}}
*/
// wrong sub_for_add wrong_output: kTable[cell] + part -> kTable[cell] - part
// wrong constant wrong_output: (v - cell) * -> 0.0f *
// wrong swapped_arguments wrong_output: (kTable[cell + 1] - kTable[cell]) -> (kTable[cell] - kTable[cell + 1])
// wrong wrong_type wrong_output: __constant__ float kTable -> __constant__ int kTable
// wrong missing_clamp wrong_output: fminf(fmaxf(x[i], 0.0f), 7.0f) -> fminf(x[i], 7.0f)
__constant__ float kTable[9] = {0.0f, 1.5f, 2.25f, -3.5f, 4.0f, 8.75f, 5.5f, 0.5f, 0.5f};
__global__ void constant_table(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = fminf(fmaxf(x[i], 0.0f), 7.0f);
  int cell = (int)v;
  float part = (v - cell) * (kTable[cell + 1] - kTable[cell]);
  y[i] = kTable[cell] + part;
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  const double points[8] = {0, 1.5, 2.25, -3.5, 4, 8.75, 5.5, 0.5};
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    double v = x[k] < 0 ? 0 : x[k] > 7 ? 7 : x[k];
    for (int p = 0; p < 8; ++p) {
      double distance = fabs(v - p);
      if (distance < 1) sum += points[p] * (1 - distance);
    }
    y[k] = (float)sum;
  }
}
