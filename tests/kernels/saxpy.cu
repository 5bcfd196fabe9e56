// y = alpha * x + y, in place; a float scalar.
/* contract
{"args": ["int n = 777", "float alpha = 0.1", "in x float32[n]", "inout y float32[n]"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// wrong sub_for_add wrong_output: alpha * x[i] + y[i] -> alpha * x[i] - y[i]
// wrong swapped_arguments wrong_output: alpha * x[i] + y[i] -> alpha * y[i] + x[i]
// wrong missing_tail wrong_output: if (i >= n) return -> if (i >= n / 128 * 128) return
// wrong wrong_type contract_invalid: float alpha -> int alpha
// wrong wrong_type/bits wrong_output: const float* x -> const int* x
// wrong writes_its_input passed+input_mutated: y[i] = alpha * x[i] + y[i]; -> y[i] = alpha * x[i] + y[i]; ((float*)x)[i] = 0.0f;
__global__ void saxpy(int n, float alpha, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = alpha * x[i] + y[i];
}
// reference
__global__ void reference(int n, float, const float* x, float* y) {
  for (int k = 0; k < n; ++k) y[k] = (float)((double)y[k] + 0.1 * (double)x[k]);
}
