// Masked fill: a bool tensor chooses between the input and a value; the mask is returned inverted too.
/* contract
{"args": ["in x float32[n]", "in mask bool[n]", "out y float32[n]", "out kept bool[n]", "float value = -1e9", "bool invert = true", "int n = 450"],
 "launch": {"grid": 4, "block": 128}}
*/
// wrong copy_of_input wrong_output: mask[i] ? value : x[i] -> x[i]
// wrong swapped_arguments wrong_output: mask[i] ? value : x[i] -> mask[i] ? x[i] : value
// wrong constant wrong_output: kept[i] = invert ? !mask[i] : mask[i] -> kept[i] = true
// wrong uninitialised wrong_output: kept[i] = invert ? !mask[i] : mask[i]; ->
// wrong wrong_type contract_invalid: bool invert -> float invert
// wrong missing_tail wrong_output+unwritten: i < n -> i < n - 66
__global__ void mask_bool(const float* x, const bool* mask, float* y, bool* kept, float value, bool invert, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = mask[i] ? value : x[i];
    kept[i] = invert ? !mask[i] : mask[i];
  }
}
// reference
__global__ void reference(const float* x, const unsigned char* mask, float* y, unsigned char* kept, float, bool, int n) {
  for (int k = 0; k < n; ++k) {
    y[k] = x[k];
    kept[k] = 1;
    if (mask[k] == 0) continue;
    y[k] = -1e9f;
    kept[k] = 0;
  }
}
