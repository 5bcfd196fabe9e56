// More of mistakes.cu, by the same rules and called the same way: warp-wide operations whose mask
// names lanes that go past them, and beside them masks that name only who has returned.
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define ALL 0xFFFFFFFFu

// --- partial_mask ---
KERNEL(partial_mask__ballot_in_a_branch) {
  unsigned v = 7; if (T % 32 < 16) v = __ballot_sync(ALL, a[I] > 3);
  b[I] = v;
}
KERNEL(partial_mask__any_in_a_branch) {
  float v = 0; if (a[I] > 2) v = __any_sync(ALL, a[I] > 6) ? 1 : 2;
  b[I] = v;
}
KERNEL(partial_mask__sum_in_a_branch) {
  float v = a[I]; if (T % 2 == 0) v = __reduce_add_sync(ALL, (int)v);
  b[I] = v;
}
KERNEL(partial_mask__match_in_a_branch) {
  unsigned v = 0; if (T % 32 > 3) v = __match_any_sync(ALL, (int)a[I]);
  b[I] = v;
}
KERNEL(partial_mask__shuffle_of_the_first_twenty) {
  float v = a[I]; if (T % 32 < 20) { float w = __shfl_down_sync(ALL, v, 10); if (T % 32 < 10) v += w; }
  b[I] = v;
}
KERNEL(partial_mask__sync_of_half_a_warp) {
  __shared__ float s[128]; float v = 0;
  if (T % 32 < 16) { s[T] = a[I]; __syncwarp(); v = s[T ^ 1]; }
  b[I] = v;
}
KERNEL(partial_mask__tree_of_the_elements_there) {
  float v = 0;
  if (I + 100 < n) { v = a[I]; for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(ALL, v, d); }
  b[I] = v;
}
KERNEL(partial_mask__those_that_left_the_loop) {
  int k = 0; while (k < (int)a[I]) { ++k; if (__all_sync(ALL, k > 5)) k += 10; }
  b[I] = k;
}
KERNEL(partial_mask__masks_that_differ) {
  unsigned m = T % 32 < 16 ? ALL : 0xFFFF0000u; float v = a[I] + __shfl_xor_sync(m, a[I], 1);
  b[I] = v;
}
KERNEL(partial_mask__sums_by_masks_that_differ) {
  unsigned m = T % 32 < 16 ? ALL : 0xFFFF0000u; b[I] = __reduce_add_sync(m, (int)a[I]);
}
KERNEL(shared_race__volatile_exchange) {
  __shared__ volatile float s[128]; s[T] = 0; __syncthreads(); s[T] = a[I]; b[I] = s[127 - T];
}
KERNEL(shared_race__volatile_counter) {
  __shared__ volatile int s; if (T == 0) s = 0; __syncthreads(); s = s + 1; __syncthreads(); b[I] = s;
}

// --- clean ---
KERNEL(clean__those_beyond_the_end_have_returned) {
  if (I + 90 >= n) return;
  float v = a[I]; int most = __reduce_max_sync(ALL, (int)v); unsigned yes = __ballot_sync(ALL, v > 3);
  if (__any_sync(ALL, v > 5)) v += __popc(yes); __syncwarp(); b[I] = v + most + __popc(__match_any_sync(ALL, (int)a[I]));
}
KERNEL(clean__those_beyond_the_end_leave_something) {
  if (I + 90 >= n) { c[T % 64] = 1; return; }
  float v = a[I]; unsigned yes = __ballot_sync(ALL, v > 3); b[I] = v + __popc(yes);
}
KERNEL(clean__nothing_after_the_branch) {
  if (I + 90 < n) { unsigned yes = __ballot_sync(ALL, a[I] > 3); b[I] = __popc(yes); }
}
KERNEL(clean__masks_of_who_is_there) {
  float v = a[I];
  if (v > 3) { unsigned m = __activemask(); v += __popc(__ballot_sync(m, v > 5)); __syncwarp(m); v += __reduce_min_sync(m, (int)v); }
  if (T % 32 < 8) { v += __shfl_xor_sync(0xFF, v, 4); __syncwarp(0xFF); } else { v -= __shfl_xor_sync(0xFFFFFF00u, v, 2); __syncwarp(0xFFFFFF00u); }
  b[I] = v;
}
KERNEL(clean__whole_warps_in_a_branch) {
  float v = a[I]; if (T < 64) { for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(ALL, v, d); __syncwarp(); }
  b[I] = v;
}
KERNEL(clean__lanes_that_come_later) {
  float v = a[I]; if (T % 32 < 16) v *= 2; else { for (int k = 0; k < 5; ++k) v += a[k]; }
  b[I] = v + __popc(__ballot_sync(ALL, v > 9));
}
KERNEL(clean__mask_by_a_vote) {
  unsigned there = __ballot_sync(ALL, a[I] > 2); float v = 0;
  if (a[I] > 2) v = __reduce_add_sync(there, (int)a[I]);
  b[I] = v;
}
KERNEL(clean__returns_from_a_loop) {
  for (int k = 0; k < 8; ++k) { if (k >= (int)a[I]) return; b[I] = __popc(__ballot_sync(ALL, k > 2)); }
}
KERNEL(clean__masks_of_groups) {
  unsigned m = 0xFFu << (T % 32 / 8 * 8); float v = a[I];
  for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(m, v, d);
  b[I] = v + __popc(__ballot_sync(m, v > 9)) + __reduce_max_sync(m, (int)v); __syncwarp(m);
}
KERNEL(clean__one_barrier_in_a_loop) { float v = 0; for (int k = 0; k < 4; ++k) { __syncthreads(); v += a[I] * k; } b[I] = v; }
KERNEL(clean__turns_by_a_volatile_word) {
  __shared__ volatile int turn; __shared__ int sum; if (T == 0) { turn = 0; sum = 0; } __syncthreads();
  if (T % 32 == 0) { int w = T / 32; while (turn != w) {} __threadfence_block(); sum += w; __threadfence_block(); turn = w + 1; }
  __syncthreads(); b[I] = sum;
}
KERNEL(clean__chain_by_volatile_flags) {
  __shared__ volatile int given[4]; __shared__ volatile float part[4]; if (T < 4) given[T] = 0; __syncthreads();
  int w = T / 32; float v = a[I];
  if (T % 32 == 0) {
    float before = 0; if (w > 0) { while (given[w - 1] == 0) {} __threadfence_block(); before = part[w - 1]; }
    part[w] = before + v; __threadfence_block(); given[w] = 1;
  }
  __syncthreads(); b[I] = part[w];
}
