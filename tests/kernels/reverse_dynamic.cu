// Reverses each row in place through dynamic shared memory.
/* contract
{"args": ["inout x int16[rows,columns]", "int rows = 6", "int columns = 99"],
 "launch": {"grid": "rows", "block": 128, "shared_mem_bytes": "2*columns"}}
*/
// wrong missing_barrier wrong_output: __syncthreads(); ->
// wrong off_by_one crashed: s[columns - 1 - t] -> s[columns - t]
// wrong wrong_type crashed: extern __shared__ short s[] -> extern __shared__ int s[]
// wrong partial_rows wrong_output: short* row = -> if (blockIdx.x == 0) return; short* row =
// wrong copy_of_input wrong_output: row[t] = s[columns - 1 - t] -> row[t] = s[t]
__global__ void reverse_dynamic(short* x, int rows, int columns) {
  extern __shared__ short s[];
  int t = threadIdx.x;
  short* row = x + blockIdx.x * columns;
  if (t < columns) s[t] = row[t];
  __syncthreads();
  if (t < columns) row[t] = s[columns - 1 - t];
}
// reference
__global__ void reference(short* x, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    for (int i = 0, j = columns - 1; i < j; ++i, --j) {
      short keep = x[r * columns + i];
      x[r * columns + i] = x[r * columns + j];
      x[r * columns + j] = keep;
    }
  }
}
