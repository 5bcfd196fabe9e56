// Greatest value of each row; all values negative, so that a zero start shows.
/* contract
{"args": ["in x float32[rows,columns] uniform low=-9 high=-1", "out top float32[rows]", "int rows = 21", "int columns = 37"],
 "launch": {"grid": 1, "block": 32}}
*/
// wrong uninitialised wrong_output: float best = -INFINITY -> float best = 0.0f
// wrong partial_rows wrong_output+unwritten: if (r < rows) -> if (r < rows / 2)
// wrong missing_tail wrong_output: c < columns -> c < columns - 5
// wrong wrong_stride wrong_output: x[r * columns + c] -> x[c * rows + r]
// wrong min_for_max wrong_output: fmaxf(best -> fminf(best
#define INFINITY __int_as_float(0x7f800000)
__global__ void row_max(const float* x, float* top, int rows, int columns) {
  int r = threadIdx.x;
  if (r < rows) {
    float best = -INFINITY;
    for (int c = 0; c < columns; ++c) best = fmaxf(best, x[r * columns + c]);
    top[r] = best;
  }
}
// reference
__global__ void reference(const float* x, float* top, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    int found = 0;
    for (int c = 0; c < columns; ++c)
      if (x[r * columns + c] > x[r * columns + found]) found = c;
    top[r] = x[r * columns + found];
  }
}
