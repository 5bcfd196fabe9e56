// An image of bytes in four channels made twice as large by the texture unit's own filter.
/* contract
{"args": ["in image uint8[rows,columns,4] uniform low=0 high=255 texture=linear,clamp,normalized_coords,normalized_float,channels:4",
          "out y float32[height,width,4] atol=1e-3", "int rows = 10", "int columns = 16", "int height = 20", "int width = 32"],
 "launch": {"grid": {"x": "ceildiv(width, 16)", "y": "ceildiv(height, 8)"}, "block": {"x": 16, "y": 8}}}
*/
// tolerance: the weights are whole 256ths, but what a texture unit computes with is not said
// wrong half_texel wrong_output: (i + 0.5f) / width -> float(i) / width
// wrong swapped_arguments wrong_output: image, u, v -> image, v, u
// wrong wrong_type crashed: float4 texel = tex2D<float4> -> uint4 texel = tex2D<uint4>
// wrong partial_rows wrong_output+unwritten: j >= height -> j >= height - 1
// wrong channels wrong_output: make_float4(texel.x, texel.y, texel.z, texel.w) -> make_float4(texel.z, texel.y, texel.x, texel.w)
__global__ void resize(cudaTextureObject_t image, float4* y, int rows, int columns, int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= width || j >= height) return;
  float u = (i + 0.5f) / width;
  float v = (j + 0.5f) / height;
  float4 texel = tex2D<float4>(image, u, v);
  y[j * width + i] = make_float4(texel.x, texel.y, texel.z, texel.w);
}
// reference
__device__ double at(const unsigned char* image, int x, int y, int c) {
  x = x < 0 ? 0 : x > 15 ? 15 : x;
  y = y < 0 ? 0 : y > 9 ? 9 : y;
  return image[(y * 16 + x) * 4 + c] / 255.0;
}
__global__ void reference(const unsigned char* image, float* out, int rows, int columns, int height, int width) {
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i)
      for (int c = 0; c < 4; ++c) {
        // Twice as large: a quarter of a texel to either side.
        int x = (i - 1) >> 1, y = (j - 1) >> 1;
        double a = i % 2 ? 0.25 : 0.75, b = j % 2 ? 0.25 : 0.75;
        out[(j * width + i) * 4 + c] = (1 - b) * ((1 - a) * at(image, x, y, c) + a * at(image, x + 1, y, c)) +
                                       b * ((1 - a) * at(image, x, y + 1, c) + a * at(image, x + 1, y + 1, c));
      }
}
