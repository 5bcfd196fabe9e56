// Elementwise choice by a mask of bytes.
/* contract
{"args": ["in mask uint8[n] uniform low=0 high=1", "in a float32[n]", "in b float32[n]", "out y float32[n]", "int n = 900"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong swapped_arguments wrong_output: ? a[i] : b[i] -> ? b[i] : a[i]
// wrong missing_tail wrong_output: if (i < n) -> if (i < n - 100)
__global__ void where_select(const unsigned char* mask, const float* a, const float* b, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = mask[i] ? a[i] : b[i];
}
// reference
__global__ void reference(const unsigned char* mask, const float* a, const float* b, float* y, int n) {
  for (int i = 0; i < n; ++i) { y[i] = b[i]; if (mask[i] != 0) y[i] = a[i]; }
}
