// Cyclic convolution by a number-theoretic transform in shared memory, modulo 998244353.
/* contract
{"args": ["in x int32[rows,128] uniform low=0 high=1000", "in y int32[128] uniform low=0 high=1000", "out z uint32[rows,128]",
          "int rows = 6"],
 "launch": {"grid": "rows", "block": 128}}
*/
// wrong sub_for_add wrong_output: s[j] = sum(u, v); -> s[j] = difference(u, v);
// wrong wrong_root wrong_output: power(3, -> power(5 * 5,
// wrong missing_barrier wrong_output: __syncthreads();  // both halves written -> // nothing
// wrong constant wrong_output: mul(p[i], power(128, kPrime - 2)) -> mul(p[i], 1)
constexpr unsigned kPrime = 998244353;
__device__ unsigned mul(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b % kPrime); }
__device__ unsigned sum(unsigned a, unsigned b) { return a + b >= kPrime ? a + b - kPrime : a + b; }
__device__ unsigned difference(unsigned a, unsigned b) { return a >= b ? a - b : a + kPrime - b; }
__device__ unsigned power(unsigned base, unsigned n) {
  unsigned r = 1;
  for (; n; n >>= 1, base = mul(base, base))
    if (n & 1) r = mul(r, base);
  return r;
}
__device__ void transform(unsigned* s, unsigned value, bool inverse) {
  unsigned i = threadIdx.x;
  s[__brev(i) >> 25] = value;
  __syncthreads();
  for (unsigned half = 1; half < 128; half *= 2) {
    if (i < 64) {
      unsigned j = i / half * 2 * half + i % half;
      unsigned turn = (kPrime - 1) / (2 * half) * (i % half);
      unsigned w = power(3, inverse ? kPrime - 1 - turn : turn), u = s[j], v = mul(s[j + half], w);
      s[j] = sum(u, v);
      s[j + half] = difference(u, v);
    }
    __syncthreads();  // both halves written
  }
}
__global__ void number_transform(const int* x, const int* y, unsigned* z, int rows) {
  __shared__ unsigned p[128], q[128];
  unsigned i = threadIdx.x;
  transform(p, x[blockIdx.x * 128 + i], false);
  transform(q, y[i], false);
  unsigned product = mul(p[i], q[i]);
  __syncthreads();
  transform(p, product, true);
  z[blockIdx.x * 128 + i] = mul(p[i], power(128, kPrime - 2));
}
// reference
__global__ void reference(const int* x, const int* y, unsigned* z, int rows) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < 128; ++i) {
      unsigned long long s = 0;
      for (int j = 0; j < 128; ++j) s += (unsigned long long)x[r * 128 + j] * y[(i - j) & 127];
      z[r * 128 + i] = (unsigned)(s % 998244353);
    }
}
