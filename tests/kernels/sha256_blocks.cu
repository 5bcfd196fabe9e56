// SHA-256 of one padded 64-byte message per thread: rotations, a rolling schedule, constants in __constant__.
/* contract
{"args": ["in words int32[n,16] uniform low=-2147483648 high=2147483647", "out digest int32[n,8]", "int n = 70"],
 "launch": {"grid": "ceildiv(n, 64)", "block": 64}}
*/
// wrong wrong_rotation wrong_output: rotated(w[(t + 14) & 15], 17) -> rotated(w[(t + 14) & 15], 18)
// wrong missing_tail wrong_output: i >= n -> i >= n - 1
__constant__ unsigned k256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ unsigned rotated(unsigned v, int by) { return __funnelshift_r(v, v, by); }
__global__ void sha256_blocks(const unsigned* __restrict__ words, unsigned* __restrict__ digest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint4* from = reinterpret_cast<const uint4*>(words) + i * 4;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    uint4 v = __ldg(from + q);
    w[4 * q] = v.x; w[4 * q + 1] = v.y; w[4 * q + 2] = v.z; w[4 * q + 3] = v.w;
  }
  unsigned a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (int t = 0; t < 64; ++t) {
    if (t >= 16) {
      unsigned x = w[(t + 1) & 15], y = w[(t + 14) & 15];
      w[t & 15] += (rotated(x, 7) ^ rotated(x, 18) ^ x >> 3) + w[(t + 9) & 15] + (rotated(w[(t + 14) & 15], 17) ^ rotated(y, 19) ^ y >> 10);
    }
    unsigned u = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (e & f ^ ~e & g) + k256[t] + w[t & 15];
    unsigned v = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + (a & b ^ a & c ^ b & c);
    h = g; g = f; f = e; e = d + u; d = c; c = b; b = a; a = u + v;
  }
  unsigned* to = digest + i * 8;
  to[0] = s[0] + a; to[1] = s[1] + b; to[2] = s[2] + c; to[3] = s[3] + d; to[4] = s[4] + e; to[5] = s[5] + f; to[6] = s[6] + g; to[7] = s[7] + h;
}
// reference
__device__ unsigned turn(unsigned v, int by) { return v >> by | v << (32 - by); }
// The constants are the first 32 bits of the fractions of the cube and square roots of the first primes.
__device__ unsigned fraction(unsigned prime, bool cube) {
  unsigned long long low = 0, high = 8;
  // floor(root * 2^32) by halving, in 128-bit products.
  low = 0; high = 1ull << 37;
  while (high - low > 1) {
    unsigned long long m = low + (high - low) / 2;
    unsigned __int128 square = (unsigned __int128)m * m;
    bool below;
    if (cube) {
      unsigned __int128 top = square >> 32, bottom = square & 0xffffffffu;
      unsigned __int128 product = top * m + (bottom * m >> 32);
      below = product < ((unsigned __int128)prime << 64);
    } else {
      below = square <= ((unsigned __int128)prime << 64);
    }
    if (below) low = m; else high = m;
  }
  return (unsigned)low;
}
__global__ void reference(const int* words, int* digest, int n) {
  unsigned k[64], start[8];
  int found = 0;
  for (unsigned p = 2; found < 64; ++p) {
    bool prime = true;
    for (unsigned d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
    if (!prime) continue;
    k[found] = fraction(p, true);
    if (found < 8) start[found] = fraction(p, false);
    ++found;
  }
  for (int i = 0; i < n; ++i) {
    unsigned w[64], s[8];
    for (int t = 0; t < 16; ++t) w[t] = words[i * 16 + t];
    for (int t = 16; t < 64; ++t) {
      w[t] = w[t - 16] + (turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 7] + (turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10);
    }
    for (int j = 0; j < 8; ++j) s[j] = start[j];
    for (int t = 0; t < 64; ++t) {
      unsigned choice = 0, majority = 0;
      for (int bit = 0; bit < 32; ++bit) {
        unsigned m = 1u << bit;
        choice |= (s[4] & m ? s[5] : s[6]) & m;
        majority |= ((s[0] & m) != 0) + ((s[1] & m) != 0) + ((s[2] & m) != 0) >= 2 ? m : 0;
      }
      unsigned u = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice + k[t] + w[t];
      unsigned v = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + majority;
      for (int j = 7; j > 0; --j) s[j] = s[j - 1];
      s[4] += u;
      s[0] = u + v;
    }
    for (int j = 0; j < 8; ++j) digest[i * 8 + j] = start[j] + s[j];
  }
}
