// Integer matrix-vector product: must be exact, wrapping like the reference.
/* contract
{"args": ["in a int32[rows,columns]", "in x int32[columns] uniform low=-1000 high=1000", "out y int32[rows]", "int rows = 50", "int columns = 31"],
 "launch": {"grid": 2, "block": 32}}
*/
// wrong wrong_type wrong_output: int sum = 0 -> float sum = 0
// wrong partial_rows wrong_output+unwritten: r < rows -> r < 32
// wrong missing_tail wrong_output: c < columns -> c < columns - 1
// wrong sub_for_add wrong_output: sum += -> sum -=
// wrong wrong_stride wrong_output: a[r * columns + c] -> a[c * rows + r]
__global__ void gemv_int32(const int* a, const int* x, int* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int sum = 0;
    for (int c = 0; c < columns; ++c) sum += a[r * columns + c] * x[c];
    y[r] = sum;
  }
}
// reference
__global__ void reference(const int* a, const int* x, int* y, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    unsigned long long sum = 0;
    for (int c = columns; c-- > 0;) sum += (long long)a[r * columns + c] * x[c];
    y[r] = (int)sum;
  }
}
