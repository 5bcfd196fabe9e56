// Modular products of 64-bit numbers through 128-bit integers, whose division the compiler writes out.
/* contract
{"args": ["in a uint32[n]", "in b uint32[n]", "in m uint32[n]", "out high uint32[n]", "out low uint32[n]", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 64)", "block": 64}}
*/
// wrong missing_tail crashed: if (i >= n) return; -> ;
// wrong wrong_type wrong_output: (unsigned __int128)x * y % q -> (unsigned __int128)(x * y) % q
// wrong sub_for_add wrong_output: % q + x -> % q - x
__global__ void wide_modulo(const unsigned* a, const unsigned* b, const unsigned* m, unsigned* high, unsigned* low, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = a[i] * 0x9E3779B97F4A7C15ull, y = b[i] * 0xC2B2AE3D27D4EB4Full;
  unsigned long long q = m[i] * 0x165667B19E3779F9ull | 1;
  unsigned __int128 r = (unsigned __int128)x * y % q + x;
  high[i] = static_cast<unsigned>(static_cast<unsigned long long>(r) >> 32);
  low[i] = static_cast<unsigned>(r / (q >> 40 | 3));
}
// reference
__global__ void reference(const unsigned* a, const unsigned* b, const unsigned* m, unsigned* high, unsigned* low, int n) {
  for (int i = 0; i < n; ++i) {
    unsigned long long x = a[i] * 0x9E3779B97F4A7C15ull, y = b[i] * 0xC2B2AE3D27D4EB4Full;
    unsigned long long q = m[i] * 0x165667B19E3779F9ull | 1, r = 0;
    for (int bit = 63; bit >= 0; --bit) {  // doubling and adding, never beyond q
      bool over = r >> 63;
      r += r;
      if (over || r >= q) r -= q;
      if (!(y >> bit & 1)) continue;
      unsigned long long t = x % q;
      r = r >= q - t ? r - (q - t) : r + t;
    }
    unsigned long long sum = r + x, carry = sum < r, d = q >> 40 | 3, rest = 0, quotient = 0;
    high[i] = static_cast<unsigned>(sum >> 32);
    for (int bit = 64; bit >= 0; --bit) {  // long division, one bit after the other
      rest = rest << 1 | (bit == 64 ? carry : sum >> bit & 1);
      bool fits = rest >= d;
      if (fits) rest -= d;
      quotient = quotient << 1 | fits;
    }
    low[i] = static_cast<unsigned>(quotient);
  }
}
