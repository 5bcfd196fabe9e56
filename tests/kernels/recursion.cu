// Device functions that call themselves: greatest common divisor and a recursive power.
/* contract
{"args": ["in a int32[n] uniform low=1 high=5000", "in b int32[n] uniform low=1 high=5000", "out g int32[n]", "out p uint64[n]", "int n = 96"],
 "launch": {"grid": 1, "block": 96}}
*/
// wrong constant wrong_output: g[t] = gcd(a[t], b[t]) -> g[t] = 1
// wrong copy_of_input wrong_output: g[t] = gcd(a[t], b[t]) -> g[t] = min(a[t], b[t])
// wrong wrong_type wrong_output: __device__ __noinline__ unsigned long long power -> __device__ __noinline__ unsigned power
// wrong missing_tail wrong_output+unwritten: if (t < n) -> if (t < n - 32)
__device__ __noinline__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
__device__ __noinline__ unsigned long long power(unsigned long long base, int e) {
  if (e == 0) return 1;
  unsigned long long half = power(base, e / 2);
  return e % 2 ? half * half * base : half * half;
}
__global__ void recursion(const int* a, const int* b, int* g, unsigned long long* p, int n) {
  int t = threadIdx.x;
  if (t < n) {
    g[t] = gcd(a[t], b[t]);
    p[t] = power(a[t], b[t] % 9);
  }
}
// reference
__global__ void reference(const int* a, const int* b, int* g, unsigned long long* p, int n) {
  for (int k = 0; k < n; ++k) {
    int u = a[k], v = b[k];
    while (u != v) (u > v ? u : v) -= u > v ? v : u;
    g[k] = u;
    p[k] = 1;
    for (int e = 0; e < b[k] % 9; ++e) p[k] *= a[k];
  }
}
