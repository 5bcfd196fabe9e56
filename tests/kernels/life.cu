// One generation of the game of life on a torus, uint8 cells, from read-only input.
/* contract
{"args": ["in cells uint8[h,w] uniform low=0 high=1", "out next uint8[h,w]", "int h = 19", "int w = 23"],
 "launch": {"grid": ["ceildiv(w, 8)", "ceildiv(h, 8)"], "block": [8, 8]}}
*/
// wrong wrong_stride wrong_output: (y + dy + h) % h * w -> (y + dy + h) % h * h
// wrong partial_rows wrong_output+unwritten: y >= h -> y >= h - 1
// wrong counts_itself wrong_output: neighbours - alive -> neighbours
// wrong copy_of_input wrong_output: others == 3 || (alive && others == 2) -> alive
// wrong constant wrong_output: others == 3 -> others == 9
__global__ void life(const unsigned char* cells, unsigned char* next, int h, int w) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  int neighbours = 0, alive = cells[y * w + x];
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) neighbours += cells[(y + dy + h) % h * w + (x + dx + w) % w];
  int others = neighbours - alive;
  next[y * w + x] = others == 3 || (alive && others == 2);
}
// reference
__global__ void reference(const unsigned char* cells, unsigned char* next, int h, int w) {
  for (int e = 0; e < h * w; ++e) {
    int x = e % w, y = e / w, left = x ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0;
    const unsigned char* up = cells + (y ? y - 1 : h - 1) * w;
    const unsigned char* same = cells + y * w;
    const unsigned char* down = cells + (y + 1 < h ? y + 1 : 0) * w;
    int sum = up[left] + up[x] + up[right] + same[left] + same[right] + down[left] + down[x] + down[right];
    next[e] = sum == 3 ? 1 : sum == 2 ? same[x] : 0;
  }
}
