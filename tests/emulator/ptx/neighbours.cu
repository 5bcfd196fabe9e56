// More of mistakes.cu, by the same rules and called the same way: what leaves one variable and is in
// the next, what is written again by who wrote it before, and divisions that have no line.
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

__device__ float table[10] = {1, 2, 3};
__constant__ float weights[10] = {1, 2, 3};

// --- out_of_bounds ---
KERNEL(out_of_bounds__reads_the_next_array) {
  __shared__ float s[128], r[128]; s[T] = a[I]; r[T] = a[I] + 1;
  __syncthreads();
  b[I] = s[T + 1] + r[T];  // line 14
}
KERNEL(out_of_bounds__reads_before_the_second_array) {
  __shared__ float s[128], r[128]; s[T] = a[I]; r[T] = a[I] + 1;
  __syncthreads();
  b[I] = s[T] + r[(int)T - 2];  // line 19
}
KERNEL(out_of_bounds__fills_a_row_too_many) {
  __shared__ float tile[8][16], sums[16];
  if (T < 16) sums[T] = 0;
  __syncthreads();
  for (int row = T / 16; row <= 8; row += 8) tile[row][T % 16] = a[I];  // line 25
  __syncthreads();
  b[I] = tile[T / 16][15 - T % 16] + sums[T % 16];
}
KERNEL(out_of_bounds__counts_beyond_its_bins) {
  __shared__ int bins[4], total;
  if (T < 4) bins[T] = 0;
  if (T == 4) total = 0;
  __syncthreads();
  atomicAdd(&bins[(int)a[I]], 1);  // line 34
  __syncthreads();
  if (T < 4) atomicAdd(&total, bins[T]);
  __syncthreads();
  b[I] = total;
}
KERNEL(out_of_bounds__reads_a_table_of_the_module) { b[I] = table[T % 12] + a[I]; }
KERNEL(out_of_bounds__reads_constants_beyond_theirs) { b[I] = weights[T % 11] + a[I]; }
KERNEL(clean__both_edges_of_every_array) {
  __shared__ float s[129]; __shared__ char small[5]; __shared__ double wide[3]; __shared__ float4 last[32];
  s[T + 1] = a[I];
  if (T == 0) s[0] = 0;
  if (T < 5) small[T] = T;
  if (T < 3) wide[T] = T;
  if (T < 32) last[T] = make_float4(T, T, T, a[I]);
  __syncthreads();
  b[I] = s[T] + s[128 - T] + small[T % 5] + wide[T % 3] + last[T % 32].w + last[31 - T % 32].x;
}
KERNEL(clean__one_array_cut_into_parts) {
  __shared__ float all[256]; __shared__ int count;
  float* first = all; float* second = all + 128;
  first[T] = a[I]; second[T] = a[I] * 2;
  if (T == 0) count = n;
  __syncthreads();
  b[I] = first[T + 3] + second[127 - T] + count;
}
KERNEL(clean__tables_of_the_module) { b[I] = table[T % 10] + weights[9 - T % 10] + a[I]; }

// --- races of who wrote before ---
KERNEL(warp_race__cleared_and_set_by_the_first_as_by_others) {
  __shared__ int flag;
  if (T == 0) flag = 0;
  if (c[T % 64] + T % 3 == 0) flag = 1;
  __syncthreads();
  b[I] = flag;
}
KERNEL(shared_race__cleared_and_set_by_the_first_then_by_another_warp) {
  __shared__ int flag;
  if (T == 0) flag = 0;
  if (c[0] + T == 0 || c[0] + T == 77) flag = 1;
  __syncthreads();
  b[I] = flag;
}
KERNEL(clean__cleared_and_set_with_a_barrier_between) {
  __shared__ int flag;
  if (T == 0) flag = 0;
  __syncthreads();
  if (c[T % 64] + T % 3 == 0) flag = 1;
  __syncthreads();
  b[I] = flag;
}
KERNEL(clean__cleared_and_set_with_the_warp_between) {
  __shared__ int flag[4];
  int w = T / 32;
  if (T % 32 == 0) flag[w] = 0;
  __syncwarp();
  if (c[T % 64] + T % 3 == 0) flag[w] = 1;
  __syncwarp();
  b[I] = flag[w];
}
KERNEL(clean__own_element_written_again) {
  __shared__ float s[128];
  s[T] = 0;
  for (int k = 0; k < 3; ++k) s[T] += a[I] * k;
  __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(clean__all_set_the_same) {
  __shared__ int flag;
  flag = 1;
  if (T % 2 == 0) flag = 1;
  __syncthreads();
  b[I] = flag;
}

// --- division_by_zero ---
KERNEL(division_by_zero__of_64_bits) {
  long long x = (long long)a[I] + 5;
  long long y = c[T % 64];
  b[I] = (float)(x / y);  // line 113
}
KERNEL(division_by_zero__remainder_of_unsigned_64_bits) {
  unsigned long long x = (unsigned long long)a[I] << 40;
  unsigned long long y = c[T % 64];
  int before = T * 3;
  b[I] = (float)(x % y) + before;  // line 119
}
KERNEL(clean__of_64_bits) {
  long long x = ((long long)a[I] + 5) << 33, y = c[T % 64] + n;
  b[I] = (float)(x / y + x % (y + 1));
}
