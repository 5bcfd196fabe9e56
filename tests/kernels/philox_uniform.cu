// Counter-based random numbers: ten rounds of Philox.
/* contract
{"args": ["out y uint32[n,4]", "int n = 100", "int key:uint32 = 12345"],
 "launch": {"grid": "ceildiv(n, 32)", "block": 32}}
*/
// wrong too_few_rounds wrong_output: r < 10 -> r < 9
// wrong swapped_arguments wrong_output: h1 ^ c1 ^ k0 -> h1 ^ c1 ^ k1
__global__ void philox_uniform(uint4* y, int n, unsigned key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 1, c2 = 2, c3 = 3, k0 = key, k1 = 77;
  for (int r = 0; r < 10; ++r) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  y[i] = make_uint4(c0, c1, c2, c3);
}
// reference
__global__ void reference(unsigned* y, int n, unsigned key) {
  for (int i = 0; i < n; ++i) {
    unsigned long long c[4] = {(unsigned long long)i, 1, 2, 3}, k[2] = {key, 77};
    for (int r = 0; r < 10; ++r) {
      unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
      unsigned long long next[4] = {(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFFull, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFFull};
      for (int j = 0; j < 4; ++j) c[j] = next[j];
      k[0] = (k[0] + 0x9E3779B9ull) & 0xFFFFFFFFull;
      k[1] = (k[1] + 0xBB67AE85ull) & 0xFFFFFFFFull;
    }
    for (int j = 0; j < 4; ++j) y[i * 4 + j] = (unsigned)c[j];
  }
}
