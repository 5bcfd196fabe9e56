// Vectorised loads and stores with a scalar tail.
/* contract
{"args": ["in a float32[n]", "in b float32[n]", "out c float32[n]", "int n = 1027"],
 "launch": {"grid": 2, "block": 160}}
*/
// wrong missing_tail wrong_output+unwritten: if (i < n % 4) -> if (i < 0)
// wrong sub_for_add wrong_output: u.z + v.z -> u.z - v.z
// wrong swapped_arguments wrong_output: make_float4(u.x + v.x, u.y + v.y -> make_float4(u.y + v.y, u.x + v.x
// wrong wrong_type crashed: reinterpret_cast<float4*>(c)[i] = -> reinterpret_cast<double4*>(c)[i] = make_double4(0, 0, 0, 0), reinterpret_cast<float4*>(c)[i] =
// wrong misaligned crashed: reinterpret_cast<const float4*>(a)[i] -> reinterpret_cast<const float4*>(a + 1)[i]
__global__ void add_float4(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 u = reinterpret_cast<const float4*>(a)[i];
    float4 v = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(c)[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
  }
  if (i < n % 4) {
    int j = n / 4 * 4 + i;
    c[j] = a[j] + b[j];
  }
}
// reference
__global__ void reference(const float* a, const float* b, float* c, int n) {
  for (int k = 0; k < n; ++k) c[k] = a[k] + b[k];
}
