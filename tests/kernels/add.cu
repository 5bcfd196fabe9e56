// Elementwise sum, one thread per element.
/* contract
{"args": ["in a float32[n]", "in b float32[n]", "out c float32[n]", "int n = 1000"],
 "launch": {"grid": "ceildiv(n, 256)", "block": 256}}
*/
// wrong sub_for_add wrong_output: a[i] + b[i] -> a[i] - b[i]
// wrong missing_tail wrong_output+unwritten: i < n -> i < n / 256 * 256
// wrong constant wrong_output: a[i] + b[i] -> 0.0f
// wrong copy_of_input wrong_output: a[i] + b[i] -> a[i]
// wrong uninitialised wrong_output: c[i] = a[i] + b[i] -> c[i] += a[i] + b[i]
// wrong no_bounds_check crashed: if (i < n) ->
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int n) {
  for (int k = n - 1; k >= 0; --k) c[k] = b[k] - (-a[k]);
}
