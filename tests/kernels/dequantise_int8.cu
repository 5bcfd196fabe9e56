// int8 to float with a scale and a zero point per column, four values per thread through char4.
/* contract
{"args": ["in q int8[rows,columns]", "in scale float32[columns]", "in zero int8[columns]", "out x float32[rows,columns]",
          "int rows = 7", "int columns = 36"],
 "launch": {"grid": "ceildiv(rows*columns, 256)", "block": 64}}
*/
// wrong sub_for_add wrong_output: (v.y - zero[c + 1]) -> (v.y + zero[c + 1])
// wrong wrong_type wrong_output: const signed char* zero -> const unsigned char* zero
// wrong missing_tail wrong_output+unwritten: if (i < rows * columns) -> if (i + 4 < rows * columns)
// wrong swapped_arguments wrong_output: make_float4((v.x - zero[c]) * scale[c], (v.y -> make_float4((v.y - zero[c]) * scale[c], (v.x
// wrong wrong_stride wrong_output: int c = i % columns -> int c = i % rows
__global__ void dequantise_int8(const char4* q, const float* scale, const signed char* zero, float4* x, int rows,
                                int columns) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < rows * columns) {
    int c = i % columns;
    char4 v = q[i / 4];
    x[i / 4] = make_float4((v.x - zero[c]) * scale[c], (v.y - zero[c + 1]) * scale[c + 1],
                           (v.z - zero[c + 2]) * scale[c + 2], (v.w - zero[c + 3]) * scale[c + 3]);
  }
}
// reference
__global__ void reference(const signed char* q, const float* scale, const signed char* zero, float* x, int rows,
                          int columns) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) x[r * columns + c] = scale[c] * ((float)q[r * columns + c] - (float)zero[c]);
}
