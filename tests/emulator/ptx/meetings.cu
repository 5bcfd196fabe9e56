// More of mistakes.cu, by the same rules and called the same way: blocks that meet through words of
// global memory, and lanes that meet by masks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define B blockIdx.x

__device__ float part[256];
__device__ int other;

// Whoever comes last adds up what all have left in part[].
#define LAST_ADDS(published, who, atomic) \
  __shared__ bool last; \
  part[I] = a[I]; \
  published; \
  if (T == who) last = atomic(c, 1) == gridDim.x - 1; \
  __syncthreads(); \
  if (last) b[T] = part[T] + part[T + 128]; \
  if (last) b[T + 128] = 0;

// Block 1 waits until block 0 says that part[] is there.
#define GIVES(before, signal) if (B == 0) { part[T] = a[T]; before; signal; b[T] = 1; }
#define TAKES(wait) else { wait; b[I] = part[T]; }
__device__ bool is_set(int* word) { return *(volatile int*)word != 0; }

// --- global_race ---
KERNEL(global_race__last_thread_counts_before_the_others) { LAST_ADDS(__threadfence(), 127, atomicAdd) }
KERNEL(global_race__counts_without_a_fence) { LAST_ADDS(__syncthreads(), 0, atomicAdd) }
KERNEL(global_race__counts_after_a_fence_for_the_block) {
  LAST_ADDS(__threadfence_block(); __syncthreads(), 0, atomicAdd)
}
KERNEL(global_race__counts_for_the_block_only) {
  LAST_ADDS(__threadfence(); __syncthreads(), 0, atomicAdd_block)
}
KERNEL(global_race__nobody_waits_behind_the_wait) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) atomicExch(c, 1))
  TAKES(if (T == 0) while (!is_set(c)))
}
KERNEL(global_race__last_thread_signals_before_the_others) {
  GIVES(__threadfence(), if (T == 127) atomicExch(c, 1))
  TAKES(if (T == 0) while (!is_set(c)); __syncthreads())
}
KERNEL(global_race__waits_for_another_word) {
  GIVES(if (T == 0) atomicExch(c + 1, 1); __threadfence(); __syncthreads(), if (T == 0) atomicExch(c, 1))
  TAKES(if (T == 0) while (!is_set(c + 1)); __syncthreads())
}
KERNEL(global_race__counts_elsewhere) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) atomicAdd(&other, 1))
  TAKES(if (T == 0) atomicAdd(&other, 1); __syncthreads())
}
KERNEL(global_race__looks_without_order) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) atomicExch(c, 1))
  TAKES(int seen = 0; while (seen == 0) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(c) : "memory"))
}

// --- warp_race ---
KERNEL(warp_race__halves_that_do_not_meet) {
  __shared__ float s[128]; s[T] = a[I];
  __syncwarp(T % 32 < 16 ? 0xFFFFu : 0xFFFF0000u);
  b[I] = s[T ^ 16];
}
KERNEL(warp_race__halves_in_branches) {
  __shared__ float s[128]; s[T] = a[I];
  if (T % 32 < 16) __syncwarp(0xFFFFu); else __syncwarp(0xFFFF0000u);
  b[I] = s[T ^ 16];
}
KERNEL(warp_race__tile_too_small) {
  __shared__ float s[128]; s[T] = a[I];
  cg::tiled_partition<8>(cg::this_thread_block()).sync();
  b[I] = s[T ^ 8];
}

// --- clean ---
KERNEL(clean__last_block_adds) { LAST_ADDS(__threadfence(); __syncthreads(), 0, atomicAdd) }
KERNEL(clean__last_block_adds_fence_behind_the_barrier) { LAST_ADDS(__syncthreads(); __threadfence(), 0, atomicAdd) }
KERNEL(clean__last_thread_counts) { LAST_ADDS(__threadfence(); __syncthreads(), 127, atomicAdd) }
KERNEL(clean__waits_for_a_flag) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) *(volatile int*)c = 1)
  TAKES(if (T == 0) { while (!is_set(c)); __threadfence(); } __syncthreads())
}
KERNEL(clean__every_thread_waits) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) *(volatile int*)c = 1)
  TAKES(while (!is_set(c)); __threadfence())
}
KERNEL(clean__looks_without_order_and_fences) {
  GIVES(__threadfence(); __syncthreads(), if (T == 0) atomicExch(c, 1))
  TAKES(int seen = 0; while (seen == 0) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(c) : "memory"); __threadfence())
}
KERNEL(clean__release_and_acquire) {
  GIVES(__syncthreads(), if (T == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(c) : "memory"))
  TAKES(int seen = 0; while (seen == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(c) : "memory"))
}
KERNEL(clean__wait_passed_on_in_the_block) {
  __shared__ volatile int told;
  if (T == 0) told = 0;
  __syncthreads();
  GIVES(__threadfence(); __syncthreads(), if (T == 0) atomicExch(c, 1))
  TAKES(if (T == 0) { while (!is_set(c)); __threadfence(); told = 1; __threadfence_block(); } while (told == 0); __threadfence_block())
}
KERNEL(clean__barrier_of_the_grid_by_hand) {
  for (int round = 1; round <= 3; ++round) {
    part[I] = a[I] * round;
    __syncthreads();
    if (T == 0) {
      __threadfence();
      atomicAdd(c, 1);
      while (atomicAdd(c, 0) < 4 * round - 2) {}
      __threadfence();
    }
    __syncthreads();
    b[I] = part[255 - I];
    __syncthreads();
    if (T == 0) {
      __threadfence();
      atomicAdd(c, 1);
      while (*(volatile int*)c < 4 * round) {}
    }
    __syncthreads();
  }
}
KERNEL(clean__one_after_the_other) {
  if (T == 0) {
    while (*(volatile int*)c != B) {}
    __threadfence();
  }
  __syncthreads();
  part[T] = (B == 0 ? 0 : part[T]) + a[I];
  __syncthreads();
  if (T == 0) {
    __threadfence();
    *(volatile int*)c = B + 1;
  }
  b[I] = a[I];
}
KERNEL(clean__told_by_a_third) {
  if (T < 32) {
    GIVES(__threadfence(); __syncwarp(), if (T == 0) atomicExch(c, 1))
  }
  if (T >= 32 && T < 64 && B == 0) {
    if (T == 32) { while (!is_set(c)); __threadfence(); atomicExch(c + 1, 1); }
  }
  if (B == 1 && T < 32) {
    while (!is_set(c + 1));
    __threadfence();
    b[I] = part[T];
  }
}
KERNEL(clean__halves_meet_their_own) {
  __shared__ float s[128]; s[T] = a[I];
  __syncwarp(T % 32 < 16 ? 0xFFFFu : 0xFFFF0000u);
  b[I] = s[T ^ 8];
}
KERNEL(clean__halves_then_all) {
  __shared__ float s[128]; s[T] = a[I];
  if (T % 32 < 16) __syncwarp(0xFFFFu); else __syncwarp(0xFFFF0000u);
  if (T % 16 == 0) s[T] += s[T + 15];
  __syncwarp();
  b[I] = s[T ^ 31];
}
KERNEL(clean__quarters_in_turn) {
  __shared__ float s[128]; s[T] = a[I];
  __syncwarp(0xFFu << (T % 32 / 8 * 8));
  if (T % 8 == 0) s[T] = s[T + 7];
  __syncwarp(T % 32 < 16 ? 0xFFFFu : 0xFFFF0000u);
  b[I] = s[(T & ~15u) + (T % 16 < 8 ? 8 : 0)];
}
KERNEL(clean__leaves_by_branches_of_a_barrier) {
  __shared__ float s[128]; s[T] = a[I];
  asm volatile("barrier.sync 0;" ::: "memory");
  b[I] = s[T ^ 16];
}
// --- what a ragged end throws away ---
KERNEL(inactive_shuffle__neighbour_of_the_last) {
  bool is_in = I < 250;
  unsigned lanes = __ballot_sync(~0u, is_in);
  if (is_in) b[I] = a[I] + __shfl_down_sync(lanes, a[I], 1);
}
KERNEL(inactive_shuffle__decides_a_branch) {
  if (T % 32 >= 20) return;
  float next = __shfl_down_sync(0xFFFFF, a[I], 4);
  if (next > 3.0f) b[I] = a[I];
}
KERNEL(inactive_shuffle__sum_of_too_many) {
  if (T % 32 >= 20) return;
  float sum = a[I];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xFFFFF, sum, k);
  if (T % 32 == 0) b[I] = sum;
}
KERNEL(clean__end_throws_its_neighbour_away) {
  bool is_in = I < 250;
  unsigned lanes = __ballot_sync(~0u, is_in);
  if (is_in) {
    float sum = a[I] + __shfl_down_sync(lanes, a[I], 1);
    b[I] = T % 32 == 31 || I == 249 ? a[I] : sum;
  }
}
KERNEL(clean__sum_of_a_ragged_end) {
  int count = T % 128 < 96 ? 32 : 20;
  unsigned lanes = count == 32 ? ~0u : (1u << count) - 1;
  if (T % 32 >= count) return;
  float sum = a[I];
  for (int k = 16; k > 0; k /= 2) {
    float more = __shfl_down_sync(lanes, sum, k);
    if (T % 32 + k < count) sum += more;
  }
  if (T % 32 == 0) b[I] = sum;
}
KERNEL(clean__sum_only_the_first_wants) {
  if (T % 32 >= 16) return;
  float sum = a[I];
  for (int k = 8; k > 0; k /= 2) sum += __shfl_down_sync(0xFFFF, sum, k);
  if (T % 32 == 0) b[I] = sum;
}
// --- copies out of shared memory ---
__device__ void put(float* to, const float* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"((unsigned)__cvta_generic_to_shared(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
#define PROXY_FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
KERNEL(shared_race__copy_without_a_proxy_fence) {
  __shared__ __align__(128) float s[128]; s[T] = a[I] * 2;
  __syncthreads();
  if (T == 0) put(b + 128 * B, s, 512);
}
KERNEL(shared_race__proxy_fence_of_the_asking_warp_before_the_barrier) {
  __shared__ __align__(128) float s[128]; s[T] = a[I] * 2;
  if (T < 32) PROXY_FENCE;
  __syncthreads();
  if (T == 0) put(b + 128 * B, s, 512);
}
KERNEL(clean__proxy_fence_of_all) {
  __shared__ __align__(128) float s[128]; s[T] = a[I] * 2;
  PROXY_FENCE;
  __syncthreads();
  if (T == 0) put(b + 128 * B, s, 512);
}
KERNEL(clean__proxy_fence_of_who_asks) {
  __shared__ __align__(128) float s[128]; s[T] = a[I] * 2;
  __syncthreads();
  if (T == 0) { PROXY_FENCE; put(b + 128 * B, s, 512); }
}
