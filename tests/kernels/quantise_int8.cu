// Symmetric int8 quantisation of each row with its own scale; both are outputs.
/* contract
{"args": ["in x float32[rows,columns]", "out q int8[rows,columns]", "out scale float32[rows]", "int rows = 8", "int columns = 64"],
 "launch": {"grid": "rows", "block": 64}}
*/
// wrong missing_barrier wrong_output: __syncthreads();  // magnitudes ->
// wrong truncates wrong_output: __float2int_rn(v / s) -> (int)(v / s)
// wrong wrong_type wrong_output: quantise_int8(const float* x -> quantise_int8(const int* x
// wrong constant wrong_output: float s = top[0] / 127.0f -> float s = 0.025f
// wrong uninitialised wrong_output+unwritten: if (t == 0) scale[row] = s; ->
__global__ void quantise_int8(const float* x, signed char* q, float* scale, int rows, int columns) {
  __shared__ float top[64];
  int t = threadIdx.x, row = blockIdx.x;
  float v = x[row * columns + t];
  top[t] = fabsf(v);
  __syncthreads();  // magnitudes
  for (int k = 32; k > 0; k >>= 1) {
    if (t < k) top[t] = fmaxf(top[t], top[t + k]);
    __syncthreads();
  }
  float s = top[0] / 127.0f;
  q[row * columns + t] = (int)__float2int_rn(v / s);
  if (t == 0) scale[row] = s;
}
// reference
__global__ void reference(const float* x, signed char* q, float* scale, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    float top = 0;
    for (int c = 0; c < columns; ++c) top = fabsf(x[r * columns + c]) > top ? fabsf(x[r * columns + c]) : top;
    scale[r] = top / 127.0f;
    for (int c = 0; c < columns; ++c) q[r * columns + c] = (signed char)rintf(x[r * columns + c] / scale[r]);
  }
}
