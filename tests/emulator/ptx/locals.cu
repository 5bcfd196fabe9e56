// Locals that are read before they are written, one mistake per kernel, and beside them kernels that
// read what nobody wrote without any effect, or look as if they did. Compiled by NVRTC with -G. All
// run as 2 blocks of 64 threads on a (128 floats 1 to 7, input), b (128 floats), c (128 ints, zero)
// and n = 128. `missing__NAME` says which variable is to be told.
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)

struct Pair {
  int count;
  float sum;
};
struct Padded {
  char tag;
  int value;
  double weight;
  short end;
};
struct Flags {
  unsigned low : 3;
  unsigned high : 5;
};

// --- mistakes ---
KERNEL(missing__acc) {
  float acc;
  for (int k = 0; k < 4; ++k) acc += a[(I + k) % n];
  b[I] = acc;
}
KERNEL(missing__parts) {
  float parts[8];
  for (int k = 0; k < 7; ++k) parts[k] = a[I] * k;
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += parts[k];
  b[I] = sum;
}
KERNEL(missing__scale) {
  float scale;
  if (a[I] > 3) scale = 2;
  b[I] = a[I] * scale;
}
KERNEL(missing__pair) {
  Pair pair;
  pair.sum = a[I];
  Pair* p = &pair;
  for (int k = 0; k < 3; ++k) p->count += k;
  c[I] = p->count;
  b[I] = p->sum;
}
__device__ __noinline__ float largest_of(const float* x, int n) {
  float best;
  for (int i = 0; i < n; ++i) best = fmaxf(best, x[i]);
  return best;
}
KERNEL(missing__best) { b[I] = largest_of(a, 16); }
__device__ __noinline__ float smallest_of(const float* x, int n) {
  float least;
  for (int i = 0; i < n; ++i) least = x[i] < least ? x[i] : least;
  return least;
}
KERNEL(missing__least) { b[I] = smallest_of(a, 16); }
KERNEL(missing__lane_value) {
  float lane_value;
  if (threadIdx.x != 37) lane_value = a[I];
  b[I] = lane_value + 1;
}
KERNEL(missing__last) {
  int last;
  for (int k = 0; k < 8; ++k) {
    if (a[(I + k) % n] > 100) last = k;
  }
  c[I] = last;
}
KERNEL(missing__where) {
  int where;
  if (a[I] > 100) where = 3;
  b[I] = a[where & 127];
}
KERNEL(missing__found) {
  bool found;
  for (int k = 0; k < 4; ++k) {
    if (a[(I + k) % n] > 100) found = true;
  }
  if (found) b[I] = 1;
}
KERNEL(missing__table) {
  int table[16];
  for (int k = 0; k < 16; k += 2) table[k] = k;
  c[I] = table[(int)a[I] & 15];
}
__device__ __noinline__ void fill(float* into, const float* from, int n) {
  for (int k = 0; k + 1 < n; ++k) into[k] = from[k];
}
KERNEL(missing__buffer) {
  float buffer[4];
  fill(buffer, a, 4);
  b[I] = buffer[0] + buffer[1] + buffer[2] + buffer[3];
}
KERNEL(missing__step) {
  int step;
  int k = 0;
  if (n < 0) step = 1;
  while (k < 5 && k >= 0) k += step;
  c[I] = k;
}
KERNEL(missing__shuffled) {
  float shuffled;
  if (threadIdx.x % 32 != 5) shuffled = a[I];
  for (int s = 16; s > 0; s /= 2) shuffled += __shfl_xor_sync(~0u, shuffled, s);
  b[I] = shuffled;
}
KERNEL(missing__kept) {
  __shared__ float s[64];
  float kept;
  if (threadIdx.x < 63) kept = a[I];
  s[threadIdx.x] = kept;
  __syncthreads();
  b[I] = s[63 - threadIdx.x];
}
__device__ __noinline__ int sometimes(int i) {
  if (i % 2 == 0) return 4;
}
KERNEL(unnamed__result_that_is_not_returned) { c[I] = sometimes(I) + 1; }
KERNEL(missing__added) {
  int added;
  if (threadIdx.x < 60) added = 1;
  atomicAdd(c, added);
}
KERNEL(missing__matrix) {
  float matrix[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) matrix[i][j] = a[I] + i * j;
  }
  float trace = 0;
  for (int i = 0; i < 3; ++i) trace += matrix[i][2 - i];
  b[I] = trace;
}

// --- no mistakes, or none that can be told from padding ---
KERNEL(clean__part_of_a_structure_that_is_only_copied) {
  float4 corner;
  corner.x = corner.y = corner.z = a[I];
  reinterpret_cast<float4*>(b)[I / 4] = corner;
}
KERNEL(clean__copy_with_padding) {
  Padded p;
  p.tag = 3;
  p.value = I;
  p.weight = a[I];
  p.end = 4;
  reinterpret_cast<Padded*>(b)[I % 16] = p;
}
__device__ __noinline__ Padded padded_of(int i) {
  Padded p;
  p.tag = 1;
  p.value = i;
  p.weight = i * 2.0;
  p.end = 5;
  return p;
}
KERNEL(clean__structure_returned_with_padding) {
  reinterpret_cast<Padded*>(b)[I % 16] = padded_of(I);
}
__device__ __noinline__ int taken_apart(Padded p) { return p.value + p.tag; }
KERNEL(clean__structure_passed_with_padding) {
  Padded p = padded_of(I);
  c[I] = taken_apart(p);
}
KERNEL(clean__flags_in_a_word) {
  Flags f;
  f.low = I & 7;
  f.high = 9;
  Flags* p = &f;
  p->low ^= 1;
  c[I] = p->low + p->high;
}
KERNEL(clean__read_and_not_used) {
  float unused[4];
  float x = unused[I & 3];
  b[I] = a[I] + (n > 1000 ? x : 0);
}
KERNEL(clean__masked_away) {
  int word;
  int* p = &word;
  c[I] = (*p & 0) + 5;
}
KERNEL(clean__set_in_the_first_turn) {
  float held;
  for (int k = 0; k < 4; ++k) {
    if (k == 0) held = a[I];
    held *= 1.5f;
  }
  b[I] = held;
}
KERNEL(clean__both_branches) {
  float x;
  if (a[I] > 3) x = 1; else x = 2;
  b[I] = x;
}
KERNEL(clean__copied_and_overwritten) {
  Pair p, q;
  p.count = I;
  q = p;
  q.sum = a[I];
  c[I] = q.count;
  b[I] = q.sum;
}
KERNEL(clean__filled_by_a_call) {
  float buffer[4];
  fill(buffer, a, 5);
  b[I] = buffer[0] + buffer[1] + buffer[2] + buffer[3];
}
KERNEL(clean__reduction_of_lanes_in_range) {
  __shared__ float s[64];
  float mine;
  if (threadIdx.x < 40) mine = a[I];
  s[threadIdx.x] = mine;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 40; ++k) sum += s[k];
  b[I] = sum;
}
KERNEL(clean__stack_of_its_own) {
  int stack[16];
  int top = 0;
  stack[top++] = I;
  int sum = 0;
  while (top > 0) {
    const int v = stack[--top];
    sum += v;
    if (v > 3) stack[top++] = v / 2;
    if (v > 9) stack[top++] = v / 3;
  }
  c[I] = sum;
}
__device__ __noinline__ int depth_of(int v) {
  int below;
  if (v < 2) return 1;
  below = depth_of(v / 2);
  return below + 1;
}
KERNEL(clean__recursion) { c[I] = depth_of(I); }
KERNEL(clean__printed) {
  if (I == 0) printf("%d %f\n", n, a[0]);
  b[I] = 1;
}
