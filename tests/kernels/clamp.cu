// In-place clamp to [low, high].
/* contract
{"args": ["inout x float32[n] randn std=3", "float low = -1.5", "float high = 0.7", "int n = 900"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// wrong swapped_arguments wrong_output: float low, float high -> float high, float low
// wrong missing_tail wrong_output: idx < n -> idx < 768
// wrong one_sided wrong_output: fminf(fmaxf(x[idx], low), high) -> fmaxf(x[idx], low)
// wrong copy_of_input wrong_output: x[idx] = -> x[idx] = x[idx], 
__global__ void clamp_in_place(float* x, float low, float high, int n) {
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx < n) x[idx] = fminf(fmaxf(x[idx], low), high);
}
// reference
__global__ void reference(float* x, float low, float high, int n) {
  for (int k = 0; k < n; ++k) {
    if (x[k] < low) x[k] = low;
    if (x[k] > high) x[k] = high;
  }
}
