// A product by compare-and-swap, which no atomic does.
/* contract
{"args": ["in x float32[n] uniform low=0.97 high=1.03", "inout y float32[1] uniform low=1 high=2 rtol=1e-4", "int n = 300"],
 "launch": {"grid": "ceildiv(n, 128)", "block": 128}}
*/
// tolerance: the order of the product differs
// wrong sub_for_add wrong_output: * x[i]) -> + x[i])
// wrong missing_tail wrong_output: if (i >= n) return; -> if (i >= n - 100) return;
__global__ void atomic_cas_product(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned* word = (unsigned*)y;
  unsigned old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) * x[i]));
  } while (old != seen);
}
// reference
__global__ void reference(const float* x, float* y, int n) {
  double p = y[0];
  for (int i = 0; i < n; ++i) p *= x[i];
  y[0] = (float)p;
}
