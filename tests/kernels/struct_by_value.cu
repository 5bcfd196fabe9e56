// Parameters in a struct, strides included.
/* contract
{"args": ["in x float32[h,w]", "out y float32[w,h] atol=0", "int h = 30", "int w = 20"],
 "launch": {"grid": ["ceildiv(w, 8)", "ceildiv(h, 8)"], "block": [8, 8]}}
*/
// wrong swapped_arguments crashed: View to{y, 1, h} -> View to{y, h, 1}
// wrong partial_rows wrong_output: j < h) -> j < h - 4)
struct View { float* data; int row, column; };
__device__ float& cell(View v, int r, int c) { return v.data[r * v.row + c * v.column]; }
__global__ void struct_by_value(const float* x, float* y, int h, int w) {
  int i = blockIdx.x * 8 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  View from{(float*)x, w, 1};
  View to{y, 1, h};
  if (i < w && j < h) cell(to, j, i) = cell(from, j, i) * 3.0f;
}
// reference
__global__ void reference(const float* x, float* y, int h, int w) {
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) y[c * h + r] = x[r * w + c] * 3.0f;
}
