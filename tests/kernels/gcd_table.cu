// Greatest common divisors by Euclid: loops of different lengths.
/* contract
{"args": ["in a int32[n] uniform low=1 high=100000", "in b int32[n] uniform low=1 high=100000", "out y int32[n]", "int n = 500"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong one_step wrong_output: while (v) -> if (v)
// wrong missing_tail wrong_output: if (i >= n) return; -> if (i >= n - 120) return;
__global__ void gcd_table(const int* a, const int* b, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int u = a[i], v = b[i];
  while (v) { int t = u % v; u = v; v = t; }
  y[i] = u;
}
// reference
__global__ void reference(const int* a, const int* b, int* y, int n) {
  for (int i = 0; i < n; ++i) {
    int u = a[i], v = b[i];
    while (u != v) { if (u > v) u -= (u - 1) / v * v; else v -= (v - 1) / u * u; }
    y[i] = u;
  }
}
