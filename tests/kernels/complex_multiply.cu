// Elementwise product with a conjugate, complex64 as float2.
/* contract
{"args": ["in a complex64[n]", "in b complex64[n]", "out c complex64[n]", "int n = 130"],
 "launch": {"grid": 2, "block": 96}}
*/
// wrong sub_for_add wrong_output: u.x * v.x + u.y * v.y -> u.x * v.x - u.y * v.y
// wrong swapped_arguments wrong_output: const float2* a, const float2* b -> const float2* b, const float2* a
// wrong missing_tail wrong_output+unwritten: i < n -> i < n - 2
// wrong wrong_type wrong_output+unwritten: float2* c, int n -> float* c, int n
// wrong wrong_stride wrong_output+out_of_bounds_read: float2 v = b[i] -> float2 v = b[2 * i]
__device__ float2 conjugate_product(float2 u, float2 v) {
  return make_float2(u.x * v.x + u.y * v.y, u.y * v.x - u.x * v.y);
}
__device__ void store(float2* to, float2 value) { *to = value; }
__device__ void store(float* to, float2 value) { *to = value.x; }
__global__ void complex_multiply(const float2* a, const float2* b, float2* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float2 u = a[i];
    float2 v = b[i];
    store(&c[i], conjugate_product(u, v));
  }
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int n) {
  for (int k = 0; k < n; ++k) {
    double re = a[2 * k], im = a[2 * k + 1], re2 = b[2 * k], im2 = -(double)b[2 * k + 1];
    c[2 * k] = (float)(re * re2 - im * im2);
    c[2 * k + 1] = (float)(re * im2 + im * re2);
  }
}
