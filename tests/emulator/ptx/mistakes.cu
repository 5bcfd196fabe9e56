// One mistake per kernel, named by what an inspection must say about it, and beside them kernels
// without mistakes that look like them. All run as 2 blocks of 128 threads on a (256 floats, input),
// b (256 floats, written by nobody before), c (64 ints, zero) and n = 256.
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

// --- shared_race ---
KERNEL(shared_race__missing_barrier_after_fill) {
  __shared__ float s[128]; s[T] = a[I]; b[I] = s[127 - T];
}
KERNEL(shared_race__missing_barrier_before_reuse) {
  __shared__ float s[128]; float sum = 0;
  for (int k = 0; k < 2; ++k) { s[T] = a[I] + k; __syncthreads(); sum += s[127 - T]; }
  b[I] = sum;
}
KERNEL(shared_race__tree_without_barrier) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  for (int d = 64; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; }
  __syncthreads(); b[I] = s[0];
}
KERNEL(shared_race__scan_with_one_barrier) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  for (int d = 1; d < 128; d *= 2) { float v = T >= d ? s[T - d] : 0; s[T] += v; __syncthreads(); }
  b[I] = s[T];
}
KERNEL(shared_race__counter_without_atomic) {
  __shared__ int count; if (T == 0) count = 0; __syncthreads();
  count = count + 1; __syncthreads(); b[I] = count;
}
KERNEL(shared_race__zeroed_too_late) {
  __shared__ int bins[32]; if (T < 32) bins[T] = 0;
  atomicAdd(&bins[T % 32], 1); __syncthreads(); b[I] = bins[T % 32];
}
KERNEL(shared_race__broadcast_without_barrier) {
  __shared__ float first; if (T == 0) first = a[I]; b[I] = a[I] - first * (T != 0);
}
KERNEL(shared_race__result_read_before_written) {
  __shared__ float s[4]; float v = a[I];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (T % 32 == 0) s[T / 32] = v;
  b[I] = s[0] + s[1] + s[2] + s[3];
}
KERNEL(shared_race__neighbour_in_next_warp) {
  __shared__ float s[129]; s[T] = a[I]; if (T == 0) s[128] = 0; __syncwarp(); b[I] = s[T + 1];
}
KERNEL(shared_race__barrier_for_half_of_the_block) {
  __shared__ float s[128]; s[T] = a[I];
  if (T < 64) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;");
  b[I] = s[127 - T];
}
KERNEL(shared_race__double_buffer_with_one_buffer) {
  __shared__ float s[2][128]; float sum = 0; s[0][T] = a[I]; __syncthreads();
  for (int k = 0; k < 3; ++k) { s[0][T] = a[I] * k; sum += s[0][127 - T]; __syncthreads(); }
  b[I] = sum + s[0][T];
}
KERNEL(shared_race__two_warps_write_one_place) {
  __shared__ float s[32]; s[T % 32] = a[I] + T; __syncthreads(); b[I] = s[T % 32];
}
KERNEL(shared_race__async_copy_without_barrier) {
  __shared__ __align__(16) float s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4); __pipeline_commit(); __pipeline_wait_prior(0);
  b[I] = s[127 - T];
}
KERNEL(shared_race__bytes_of_one_word_by_two) {
  __shared__ unsigned char s[64]; s[T / 2] = (unsigned char)T; __syncthreads(); b[I] = s[T / 2];
  __syncthreads(); s[T % 64] = 1; b[I] += s[63 - T % 64];
}
KERNEL(shared_race__barrier_in_other_iteration) {
  __shared__ float s[128]; float v = 0;
  for (int k = 0; k < 4; ++k) { if (k % 2 == 0) __syncthreads(); s[T] = v + a[I]; if (k % 2 == 1) v += s[127 - T]; }
  b[I] = v;
}
// --- global_race ---
KERNEL(global_race__sum_without_atomic) { b[I] = 0; __syncthreads(); c[0] = c[0] + (int)a[I]; }
KERNEL(global_race__neighbour_block) { b[I] = a[I]; __syncthreads(); if (I + 1 < n) b[I] += b[I + 1]; }
KERNEL(global_race__same_cell_by_both_blocks) { b[T] = a[I] + blockIdx.x; b[128 + T] = 0; }
KERNEL(global_race__in_place_stencil) { float v = I > 0 ? ((volatile float*)b)[0] * 0 : 0; b[I] = v; c[I % 64] = I; }
KERNEL(global_race__within_a_block) { b[I] = a[I]; b[I] = blockIdx.x == 0 ? b[127 - T] : a[I]; }
KERNEL(global_race__counter_of_blocks) { if (T == 0) c[1] = c[1] + 1; b[I] = a[I]; }
KERNEL(global_race__last_block_without_fence) {
  __shared__ int last; if (T == 0) { b[128 * blockIdx.x] = a[I]; last = atomicAdd(&c[2], 1); } else b[I] = 0;
  __syncthreads();
  if (last == 1 && T == 0) { float s = b[0] + b[128]; c[3] = (int)s; }
}
KERNEL(global_race__mixed_atomic_and_plain) { atomicAdd(&c[4], 1); b[I] = 0; if (I == 200) c[4] = 7; }
KERNEL(global_race__histogram_without_atomic) { b[I] = 0; c[(int)a[I] % 8] += 1; }
KERNEL(global_race__transposed_index) { b[I % 2 * 128 + T] = a[I] + I; }
// --- warp_race ---
KERNEL(warp_race__lanes_without_syncwarp) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  if (T < 32) { s[T] += s[T + 16]; s[T] += s[T + 8]; }
  __syncthreads(); b[I] = s[T];
}
KERNEL(warp_race__neighbour_in_the_warp) {
  __shared__ float s[128]; s[T] = a[I]; b[I] = s[T ^ 1];
}
KERNEL(warp_race__lanes_store_to_one_place) {
  __shared__ float s[4]; s[T / 32] = a[I] + T; __syncthreads(); b[I] = s[T / 32];
}
KERNEL(warp_race__divergent_producer) {
  __shared__ float s[128]; s[T] = 0; __syncthreads();
  if (T % 2 == 0) s[T + 1] = a[I]; b[I] = s[T];
}
// --- uninitialised_shared ---
KERNEL(uninitialised_shared__tail_of_a_tile) {
  __shared__ float s[130]; s[T] = a[I]; __syncthreads(); b[I] = s[T + 1];
}
KERNEL(uninitialised_shared__accumulates_into_nothing) {
  __shared__ float s[128]; s[T] += a[I]; __syncthreads(); b[I] = s[T];
}
KERNEL(uninitialised_shared__atomic_on_nothing) {
  __shared__ int bins[16]; atomicAdd(&bins[T % 16], 1); __syncthreads(); b[I] = bins[T % 16];
}
KERNEL(uninitialised_shared__guarded_fill) {
  __shared__ float s[128]; if (T < 100) s[T] = a[I]; __syncthreads(); b[I] = s[T];
}
KERNEL(uninitialised_shared__other_columns) {
  __shared__ float s[16][17]; for (int i = T; i < 256; i += 128) s[i / 16][i % 16] = a[i]; __syncthreads();
  b[I] = s[T / 16][T % 16 + 1];
}
KERNEL(uninitialised_shared__warp_sums_of_missing_warps) {
  __shared__ float s[32]; if (T % 32 == 0) s[T / 32] = a[I]; __syncthreads();
  float v = T < 32 ? s[T] : 0; b[I] = v;
}
KERNEL(uninitialised_shared__wrong_buffer) {
  __shared__ float s[2][128]; s[0][T] = a[I]; __syncthreads(); b[I] = s[1][T];
}
KERNEL(uninitialised_shared__half_a_vector) {
  __shared__ __align__(16) float s[512]; s[4 * T] = a[I]; s[4 * T + 1] = 0; __syncthreads();
  float4 v = ((float4*)s)[T]; b[I] = v.x + v.w;
}
// --- uninitialised_global ---
KERNEL(uninitialised_global__adds_to_the_output) { b[I] += a[I]; }
KERNEL(uninitialised_global__reads_before_writing) { float v = b[I]; b[I] = a[I]; c[I % 64] = v > 0; }
KERNEL(uninitialised_global__atomic_on_the_output) { atomicAdd(&b[I], a[I]); }
KERNEL(uninitialised_global__maximum_of_the_output) { b[I] = fmaxf(b[I], a[I]); }
KERNEL(uninitialised_global__beyond_what_was_written) {
  if (T < 64) b[I] = a[I]; __syncthreads(); c[T % 64] = b[blockIdx.x * 128 + 64 + T % 64] > 0;
}
KERNEL(uninitialised_global__from_the_heap) {
  float* p = (float*)malloc(64); p[0] = a[I]; b[I] = b[I] * 0 + p[0]; free(p);
}
// --- divergent_barrier ---
KERNEL(divergent_barrier__in_one_branch) { b[I] = a[I]; if (T % 2 == 0) { __syncthreads(); b[I] += 1; } b[I] += 2; }
KERNEL(divergent_barrier__in_a_loop_of_own_length) {
  for (int k = 0; k < (int)(T % 3); ++k) __syncthreads(); b[I] = a[I];
}
KERNEL(divergent_barrier__behind_a_condition_on_data) { b[I] = 0; if (a[I] > 4.0f) { b[I] = 1; __syncthreads(); } b[I] += 2; }
KERNEL(divergent_barrier__half_a_warp) {
  __shared__ float s[128]; s[T] = a[I]; if (T < 16) { __syncthreads(); } b[I] = s[T];
}
// --- mismatched_barrier ---
KERNEL(mismatched_barrier__one_per_branch) {
  if (T < 64) {
    b[I] = a[I];
    __syncthreads();
    c[T] = 1;
  } else {
    b[I] = -a[I];
    __syncthreads();
  }
}
KERNEL(mismatched_barrier__warp_specialised) {
  __shared__ float s[128];
  if (T / 32 == 0) {
    for (int k = 0; k < 4; ++k) s[T + 32 * k] = a[k];
    __syncthreads();
    b[I] = 0;
  } else {
    __syncthreads();
    b[I] = s[T];
  }
}
// --- barrier_after_exit ---
KERNEL(barrier_after_exit__early_return) { if (T >= 100) return; __syncthreads(); b[I] = a[I]; }
KERNEL(barrier_after_exit__whole_warps_leave) { if (T >= 96) return; b[I] = a[I]; __syncthreads(); b[I] += 1; }
// --- inactive_shuffle ---
KERNEL(inactive_shuffle__mask_of_half) {
  float v = a[I]; if (T % 32 < 16) v = __shfl_down_sync(0xFFFF, v, 16); b[I] = v;
}
KERNEL(inactive_shuffle__lane_not_in_the_mask) {
  float v = a[I]; if (T % 2 == 0) v = __shfl_xor_sync(0x55555555, v, 1); b[I] = v;
}
KERNEL(inactive_shuffle__broadcast_from_lane_zero) {
  float v = a[I]; if (T % 32 > 3) v = __shfl_sync(0xFFFFFFF0, v, 0); b[I] = v;
}
// --- numbers ---
KERNEL(division_by_zero__modulus) { b[I] = a[I]; c[T % 64] = n / (c[T % 64] * 2); }
KERNEL(division_by_zero__remainder) { b[I] = a[I]; c[T % 64] = n % c[T % 64]; }
KERNEL(division_by_zero__of_64_bits) { b[I] = (float)((long long)n / (long long)c[T % 64]); }
KERNEL(not_a_number__root_of_a_negative) { b[I] = sqrtf(2.5f - a[I]); }
KERNEL(not_a_number__logarithm) { b[I] = __logf(1.5f - a[I]); }
KERNEL(infinity__one_over_zero) { b[I] = 1.0f / (a[I] - 3.0f); }
KERNEL(infinity__exponential) { b[I] = __expf(a[I] * 50.0f); }
// --- faults ---
KERNEL(out_of_bounds__tail_without_guard) { b[I] = a[I + 1]; }
KERNEL(out_of_bounds__shared_row) { __shared__ float s[8][16]; s[T / 16][T % 16] = a[I]; __syncthreads(); b[I] = s[T / 16][T % 16 + 100 * (c[0] + 1)]; }
KERNEL(out_of_bounds__negative_index) { b[I] = a[(int)T - 1]; }
KERNEL(out_of_bounds__local_array) { float l[4]; for (int k = 0; k < 4; ++k) l[k] = a[k]; b[I] = l[(c[0] + 1) * 4096]; }
KERNEL(out_of_bounds__write_past_the_end) { b[I * 2] = a[I]; }
KERNEL(misaligned__vector_load) { float2 v = ((const float2*)(a + 1))[0]; b[I] = v.x + v.y; }
KERNEL(misaligned__shared_vector) {
  __shared__ __align__(16) float s[256]; s[T] = a[I]; s[T + 128] = 0; __syncthreads();
  float4 v = ((float4*)(s + 2))[0]; b[I] = v.x + v.y + v.z + v.w;
}
KERNEL(trap__assertion_by_hand) { b[I] = a[I]; if (a[I] > 6.5f) __trap(); }
KERNEL(barrier_divergence__count_never_reached) { b[I] = a[I]; if (T < 32) asm volatile("bar.sync 3, 64;"); }
KERNEL(budget_instructions__waits_for_nobody) { volatile int* p = c; b[I] = a[I]; while (p[9] == 0) {} }
KERNEL(budget_instructions__step_of_zero) { float s = 0; for (int k = 0; k < n; k += c[0]) s += a[k]; b[I] = s; }

__device__ __noinline__ int deep(int k, int* c) { volatile int l[8]; l[k & 7] = k + c[0]; return k < 0 ? 0 : deep(k + 1, c) + l[(k + 1) & 7]; }
KERNEL(stack_overflow__endless_recursion) { b[I] = deep(n, c); }

// --- clean ---
KERNEL(clean__elementwise) { if (I < n) b[I] = a[I] * 2.0f; }
KERNEL(clean__tile_with_barriers) {
  __shared__ float s[128]; float sum = 0;
  for (int k = 0; k < 3; ++k) { s[T] = a[I] + k; __syncthreads(); sum += s[127 - T]; __syncthreads(); }
  b[I] = sum;
}
KERNEL(clean__tree) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  for (int d = 64; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
  b[I] = s[0];
}
KERNEL(clean__tree_then_one_warp) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  if (T < 64) s[T] += s[T + 64];
  __syncthreads();
  if (T < 32) {
    float v = s[T] + s[T + 32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (T == 0) s[0] = v;
  }
  __syncthreads(); b[I] = s[0];
}
KERNEL(clean__volatile_warp_reduction) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  if (T < 32) {
    volatile float* v = s;
    v[T] += v[T + 32]; v[T] += v[T + 16]; v[T] += v[T + 8]; v[T] += v[T + 4]; v[T] += v[T + 2]; v[T] += v[T + 1];
  }
  __syncthreads(); b[I] = s[0];
}
KERNEL(clean__syncwarp_between_lanes) {
  __shared__ float s[128]; s[T] = a[I]; __syncwarp(); float v = s[T ^ 1]; __syncwarp(); s[T] = v; b[I] = s[T];
}
KERNEL(clean__double_buffer) {
  __shared__ float s[2][128]; s[0][T] = a[I]; __syncthreads(); float sum = 0;
  for (int k = 0; k < 4; ++k) { s[(k + 1) % 2][T] = a[I] * k; sum += s[k % 2][127 - T]; __syncthreads(); }
  b[I] = sum;
}
KERNEL(clean__hillis_steele) {
  __shared__ float s[128]; s[T] = a[I]; __syncthreads();
  for (int d = 1; d < 128; d *= 2) { float v = T >= d ? s[T - d] : 0; __syncthreads(); s[T] += v; __syncthreads(); }
  b[I] = s[T];
}
KERNEL(clean__shared_histogram) {
  __shared__ int bins[16]; if (T < 16) bins[T] = 0; __syncthreads();
  atomicAdd(&bins[(int)a[I] % 16], 1); __syncthreads();
  if (T < 16) atomicAdd(&c[T], bins[T]); b[I] = 0;
}
KERNEL(clean__everyone_sets_one_flag) {
  __shared__ int flag; if (T == 0) flag = 0; __syncthreads(); if (a[I] > 2) flag = 1; __syncthreads(); b[I] = flag;
}
KERNEL(clean__all_blocks_set_one_flag) { if (a[I] > 2) c[5] = 1; b[I] = 0; }
KERNEL(clean__last_block_with_fence) {
  __shared__ int last;
  if (T == 0) { b[128 * blockIdx.x] = a[I]; __threadfence(); last = atomicAdd(&c[2], 1); } else b[I] = 0;
  __syncthreads();
  if (last == 1 && T == 0) { __threadfence(); float s = ((volatile float*)b)[0] + ((volatile float*)b)[128]; c[3] = (int)s; }
}
KERNEL(clean__named_barriers_of_halves) {
  __shared__ float s[128]; s[T] = a[I];
  if (T < 64) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");
  b[I] = s[T ^ 33];
}
KERNEL(clean__producer_and_consumer) {
  __shared__ float s[32]; b[I] = 0;
  if (T < 32) { s[T] = a[I]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
  else if (T < 64) { asm volatile("bar.sync 1, 64;" ::: "memory"); b[I] = s[63 - T]; }
}
KERNEL(clean__cooperative_tile) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  __shared__ float s[128]; s[T] = a[I]; tile.sync(); float v = s[T ^ 15]; tile.sync(); b[I] = v;
}
KERNEL(clean__grid_sync) {
  b[I] = a[I]; cg::this_grid().sync(); float v = b[n - 1 - I]; cg::this_grid().sync(); b[I] = v;
}
KERNEL(clean__async_copy) {
  __shared__ __align__(16) float s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(clean__bytes_side_by_side) {
  __shared__ unsigned char s[128]; s[T] = (unsigned char)a[I]; __syncthreads(); b[I] = s[127 - T];
}
KERNEL(clean__output_then_read_own) { b[I] = a[I]; b[I] += 1; b[I] *= 2; }
KERNEL(clean__output_exchanged_in_the_block) { b[I] = a[I]; __syncthreads(); float v = b[I ^ 1]; __syncthreads(); b[I] = v; }
KERNEL(clean__guarded_tail_reads_zero) {
  __shared__ float s[130]; s[T + 1] = a[I]; if (T == 0) { s[0] = 0; s[129] = 0; } __syncthreads();
  b[I] = s[T] + s[T + 2];
}
KERNEL(clean__uniform_branch_around_a_barrier) {
  __shared__ float s[128]; s[T] = a[I]; if (n > 100) { __syncthreads(); b[I] = s[127 - T]; } else b[I] = 0;
}
KERNEL(clean__loop_of_uniform_length) {
  __shared__ float s[128]; float v = a[I];
  for (int k = 0; k < n / 64; ++k) { __syncthreads(); s[T] = v; __syncthreads(); v += s[(T + k) % 128]; }
  b[I] = v;
}
KERNEL(clean__matching_shuffles_in_halves) {
  float v = a[I]; unsigned m = T % 32 < 16 ? 0xFFFF : 0xFFFF0000;
  if (T % 32 < 16) v += __shfl_xor_sync(m, v, 8); else v -= __shfl_xor_sync(m, v, 8);
  b[I] = v;
}
KERNEL(clean__ballot_and_compact) {
  unsigned m = __ballot_sync(~0u, a[I] > 3); int at = __popc(m & ((1u << (T % 32)) - 1)); b[I] = a[I] > 3 ? at : -1;
}
KERNEL(clean__spin_lock) {
  if (T == 0) { while (atomicCAS(&c[6], 0, 1) != 0) {} __threadfence(); c[7] = c[7] + 1; __threadfence(); atomicExch(&c[6], 0); }
  b[I] = 0;
}
KERNEL(clean__division_guarded) { b[I] = a[I]; int d = c[T % 64]; int q = d != 0 ? n / d : 0; if (q > 0) b[I] += q; }
KERNEL(clean__infinity_as_a_start) { float m = -__int_as_float(0x7f800000); for (int k = 0; k < 4; ++k) m = fmaxf(m, a[(I + k) % n]); b[I] = m; }
KERNEL(clean__vector_of_own) { if (I < n / 4) { float4 v = ((const float4*)a)[I]; ((float4*)b)[I] = v; } }
KERNEL(clean__transpose_with_padding) {
  __shared__ float s[8][17]; s[T / 16][T % 16] = a[I]; __syncthreads(); b[blockIdx.x * 128 + T % 8 * 16 + T / 8] = s[T % 8][T / 8];
}
KERNEL(clean__heap_of_own) { float* p = (float*)malloc(16); p[0] = a[I]; b[I] = p[0]; free(p); }
KERNEL(clean__local_array) { float l[8]; for (int k = 0; k < 8; ++k) l[k] = a[(I + k) % n]; b[I] = l[(int)a[I] & 7]; }
