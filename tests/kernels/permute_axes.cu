// Axes of a tensor from (a, b, c) to (c, a, b).
/* contract
{"args": ["in x int32[a,b,c] uniform low=-9 high=9999", "out y int32[c,a,b]", "int a = 5", "int b = 7", "int c = 11"],
 "launch": {"grid": "ceildiv(a * b * c, 64)", "block": 64}}
*/
// wrong swapped_arguments wrong_output: (k * a + i) * b + j -> (k * b + j) * a + i
// wrong missing_tail wrong_output: if (p >= a * b * c) return; -> if (p >= a * b * c - 11) return;
__global__ void permute_axes(const int* x, int* y, int a, int b, int c) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= a * b * c) return;
  int i = p / (b * c), j = p / c % b, k = p % c;
  y[(k * a + i) * b + j] = x[p];
}
// reference
__global__ void reference(const int* x, int* y, int a, int b, int c) {
  int at = 0;
  for (int k = 0; k < c; ++k)
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < b; ++j) y[at++] = x[i * b * c + j * c + k];
}
