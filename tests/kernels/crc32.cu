// Checksums of rows, bit by bit.
/* contract
{"args": ["in x uint8[rows,24] uniform low=0 high=255", "out y uint32[rows]", "int rows = 90"],
 "launch": {"grid": "ceildiv(rows, 32)", "block": 32}}
*/
// wrong wrong_start wrong_output: c = ~0u -> c = 0u
// wrong partial_rows wrong_output: k < 24 -> k < 23
__global__ void crc32(const unsigned char* x, unsigned* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  unsigned c = ~0u;
  for (int k = 0; k < 24; ++k) {
    c ^= x[r * 24 + k];
    for (int b = 0; b < 8; ++b) c = c >> 1 ^ (0xEDB88320u & -(c & 1));
  }
  y[r] = ~c;
}
// reference
__global__ void reference(const unsigned char* x, unsigned* y, int rows) {
  unsigned table[256];
  for (unsigned i = 0; i < 256; ++i) {
    table[i] = i;
    for (int b = 0; b < 8; ++b) table[i] = table[i] % 2 ? table[i] / 2 ^ 0xEDB88320u : table[i] / 2;
  }
  for (int r = 0; r < rows; ++r) {
    unsigned c = 0xFFFFFFFFu;
    for (int k = 0; k < 24; ++k) c = table[(c ^ x[r * 24 + k]) & 255] ^ c >> 8;
    y[r] = c ^ 0xFFFFFFFFu;
  }
}
