// Five-point stencil from a tile with halo; the border keeps its value.
/* contract
{"args": ["in u float32[h,w]", "out v float32[h,w]", "int h = 26", "int w = 37", "float k = 0.2"],
 "launch": {"grid": ["ceildiv(w, 16)", "ceildiv(h, 16)"], "block": [16, 16]}}
*/
// wrong missing_barrier passed+order_of_warps: __syncthreads(); ->
// wrong wrong_stride wrong_output: int at = y * w + x; -> int at = y * h + x;
// wrong sub_for_add wrong_output: + tile[ty][tx + 1] -> - tile[ty][tx + 1]
// wrong copy_of_input wrong_output: v[at] = c + k * -> v[at] = c + 0 *
// wrong missing_halo wrong_output: if (ty == 16 && y + 1 < h) -> if (ty == 15 && y + 1 < h)
__global__ void stencil2d(const float* u, float* v, int h, int w, float k) {
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int at = y * w + x;
  bool inside = x < w && y < h;
  if (inside) {
    tile[ty][tx] = u[at];
    if (tx == 1 && x > 0) tile[ty][0] = u[at - 1];
    if (tx == 16 && x + 1 < w) tile[ty][17] = u[at + 1];
    if (ty == 1 && y > 0) tile[0][tx] = u[at - w];
    if (ty == 16 && y + 1 < h) tile[17][tx] = u[at + w];
  }
  __syncthreads();
  if (!inside) return;
  float c = tile[ty][tx];
  if (x > 0 && y > 0 && x + 1 < w && y + 1 < h)
    v[at] = c + k * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] - 4 * c);
  else
    v[at] = c;
}
// reference
__global__ void reference(const float* u, float* v, int h, int w, float k) {
  for (int e = 0; e < h * w; ++e) {
    int x = e % w, y = e / w;
    double c = u[e];
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
      c += 0.2 * ((double)u[e - 1] + u[e + 1] + u[e - w] + u[e + w] - 4 * c);
    v[e] = (float)c;
  }
}
