// Device functions called through a table of pointers.
/* contract
{"args": ["in x float32[n]", "in which int32[n] uniform low=0 high=2", "out y float32[n] atol=1e-5", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong wrong_index wrong_output: table[which[i]] -> table[2 - which[i]]
// wrong missing_tail wrong_output: if (i < n) -> if (i < n - 60)
__device__ __noinline__ float twice(float v) { return v * 2; }
__device__ __noinline__ float square(float v) { return v * v; }
__device__ __noinline__ float negate(float v) { return 1 - v; }
__device__ float (*const table[3])(float) = {twice, square, negate};
__global__ void function_table(const float* x, const int* which, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[which[i]](x[i]);
}
// reference
__global__ void reference(const float* x, const int* which, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = which[i] == 0 ? x[i] + x[i] : which[i] == 1 ? x[i] * x[i] : 1 - x[i];
}
