// Dot products of packed bytes by dp4a.
/* contract
{"args": ["in a int8[rows,64] uniform low=-100 high=100", "in b int8[64] uniform low=-100 high=100", "out y int32[rows]", "int rows = 150"],
 "launch": {"grid": "ceildiv(rows, 64)", "block": 64}}
*/
// wrong wrong_type wrong_output+out_of_bounds_read: const int* a4 = (const int*)a -> const int* a4 = (const int*)b
// wrong partial_rows wrong_output: k < 16; -> k < 15;
__global__ void dp4a_dot(const signed char* a, const signed char* b, int* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int* a4 = (const int*)a + row * 16;
  const int* b4 = (const int*)b;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum = __dp4a(a4[k], b4[k], sum);
  y[row] = sum;
}
// reference
__global__ void reference(const signed char* a, const signed char* b, int* y, int rows) {
  for (int r = 0; r < rows; ++r) {
    int s = 0;
    for (int k = 0; k < 64; ++k) s += a[r * 64 + k] * b[k];
    y[r] = s;
  }
}
