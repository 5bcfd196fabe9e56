// Divergence, calls, printf and assert.

extern "C" __global__ void collatz(const unsigned* x, int* steps, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = x[i];
  int n = 0;
  while (true) {
    if (v == 1) break;
    if (n == limit) {
      steps[i] = -1;
      return;
    }
    v = (v & 1) ? 3 * v + 1 : v / 2;
    ++n;
  }
  steps[i] = n;
}

__device__ __noinline__ int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(const int* n, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fibonacci(n[i]);
}

__device__ __noinline__ int endless(int n) {
  volatile int keep[8];
  keep[n & 7] = n;
  return endless(n + 1) + keep[(n + 1) & 7];
}

extern "C" __global__ void deep_recursion(int* out) { out[threadIdx.x] = endless(threadIdx.x); }

struct Pair {
  double a;
  int b;
  short c;
};

__device__ __noinline__ Pair twist(Pair p, float f) {
  Pair r;
  r.a = p.a * f;
  r.b = p.b + (int)p.c;
  r.c = (short)(p.c - 1);
  return r;
}

extern "C" __global__ void struct_call(Pair p, Pair* out) {
  p.b += threadIdx.x;
  out[threadIdx.x] = twist(p, 0.5f);
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Operation operations[2] = {plus, times};

extern "C" __global__ void pointer_call(int* out) {
  int i = threadIdx.x;
  out[i] = operations[i & 1](i, i + 1);
}

extern "C" __global__ void bad_pointer_call(int* out, Operation f) { out[0] = f(1, 2); }

extern "C" __global__ void hello(int n) {
  if (threadIdx.x < 2)
    printf("thread %d of %s: %5.2f %lld %#x %c%%\n", threadIdx.x, "hello", 1.5 * n, 1234567890123LL,
           255u, 'z');
}

extern "C" __global__ void check(const int* x) {
  if (x[threadIdx.x] < 0) __assertfail("x >= 0", "control.cu", 75, "check", 1);
}

extern "C" __global__ void switcher(const int* x, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = 0;
  switch (x[i]) {
    case 0: r = 11; break;
    case 1: r = x[i + 1]; break;
    case 2: r = out[i] * 5; break;
    case 3: r = out[i] - 7; break;
    case 4: r = out[i] ^ 77; break;
    case 5: r = out[i] / 3; break;
    default: r = -1;
  }
  out[i] = r;
}
