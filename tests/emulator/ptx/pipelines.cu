// More of mistakes.cu, by the same rules and called the same way: copies that run beside the threads,
// and the mbarriers by which threads and copies meet.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define ALIGNED __shared__ __align__(16)
typedef unsigned long long Barrier;

__device__ __forceinline__ unsigned shared_of(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_of(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void copy4(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_of(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
__device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory"); }
__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ __forceinline__ void init(Barrier* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_of(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(Barrier* bar) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(shared_of(bar)) : "memory");
}
__device__ __forceinline__ void expect(Barrier* bar, int bytes) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(shared_of(bar)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ bool passed(Barrier* bar, int parity) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared_of(bar)), "r"(parity) : "memory");
  return done != 0;
}
__device__ __forceinline__ void wait_for(Barrier* bar, int parity) { while (!passed(bar, parity)) {} }
__device__ __forceinline__ void bulk(float* to, const float* from, int bytes, Barrier* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(to)),
               "l"(from), "r"(bytes), "r"(shared_of(bar)) : "memory");
}
__device__ __forceinline__ void arrive_with_copies(Barrier* bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_of(bar)) : "memory");
}

// --- shared_race: a copy is under way ---
KERNEL(shared_race__copy_of_own_not_waited_for) { ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); b[I] = s[T]; }
KERNEL(shared_race__copy_not_waited_for_but_a_barrier) {
  ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__copy_not_committed) {
  ALIGNED float s[128]; copy(&s[T], &a[I]); wait<0>(); __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__last_stage_not_waited_for) {
  ALIGNED float s[2][128]; copy(&s[0][T], &a[I]); commit(); float sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (k == 0) copy(&s[1][T], &a[127 - T]);
    if (k == 0) commit();
    wait<1>(); __syncthreads(); sum += s[k][127 - T]; __syncthreads();
  }
  b[I] = sum;
}
KERNEL(shared_race__waited_for_by_one_thread) {
  ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); if (T == 0) wait<0>(); __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__waited_for_after_the_barrier) {
  ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); __syncthreads(); wait<0>(); b[I] = s[127 - T];
}
KERNEL(shared_race__one_thread_copies_and_waits) {
  ALIGNED float s[128]; if (T == 0) { for (int k = 0; k < 128; k += 4) copy4(&s[k], &a[k]); commit(); wait<0>(); }
  b[I] = s[127 - T];
}
KERNEL(shared_race__written_while_the_copy_is_under_way) {
  ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); s[T] = 0; wait<0>(); __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__filled_again_too_early) {
  ALIGNED float s[128]; float sum = 0;
  for (int k = 0; k < 3; ++k) { copy(&s[T], &a[I]); commit(); wait<0>(); __syncthreads(); sum += s[127 - T]; }
  b[I] = sum;
}
KERNEL(shared_race__pipeline_without_wait) {
  ALIGNED float s[128]; __pipeline_memcpy_async(&s[T], &a[I], 4); __pipeline_commit(); __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__group_copy_without_wait) {
  ALIGNED float s[128]; auto block = cg::this_thread_block(); cg::memcpy_async(block, s, a + 128 * blockIdx.x, 512); block.sync();
  b[I] = s[127 - T];
}
KERNEL(shared_race__bulk_copy_not_waited_for) {
  ALIGNED float s[128]; __shared__ Barrier bar; if (T == 0) init(&bar, 1); __syncthreads();
  if (T == 0) { expect(&bar, 512); bulk(s, a, 512, &bar); } __syncthreads(); b[I] = s[127 - T];
}
KERNEL(shared_race__bulk_copy_waited_for_by_one_warp) {
  ALIGNED float s[128]; __shared__ Barrier bar; if (T == 0) init(&bar, 1); __syncthreads();
  if (T == 0) { expect(&bar, 512); bulk(s, a, 512, &bar); }
  __syncthreads(); if (T < 32) wait_for(&bar, 0); b[I] = s[127 - T];
}
KERNEL(shared_race__barrier_used_before_initialised) {
  ALIGNED float s[128]; __shared__ Barrier bar; if (T == 0) init(&bar, 128); s[T] = a[I]; __syncwarp();
  arrive(&bar); wait_for(&bar, 0); b[I] = s[127 - T];
}
KERNEL(shared_race__barrier_tested_before_initialised) {
  ALIGNED float s[128]; __shared__ Barrier bar; if (T == 0) { init(&bar, 1); expect(&bar, 512); bulk(s, a, 512, &bar); } __syncwarp();
  wait_for(&bar, 0); b[I] = s[127 - T];
}

// --- deadlock: a phase that is never over ---
KERNEL(deadlock__barrier_of_more_threads_than_there_are) {
  __shared__ Barrier full; if (T == 0) init(&full, 129); __syncthreads(); arrive(&full); wait_for(&full, 0); b[I] = a[I];
}
KERNEL(deadlock__barrier_of_more_bytes_than_are_copied) {
  ALIGNED float s[128]; __shared__ Barrier full; if (T == 0) init(&full, 1); __syncthreads();
  if (T == 0) { expect(&full, 512); bulk(s, a, 256, &full); } wait_for(&full, 0); b[I] = s[T];
}
KERNEL(deadlock__barrier_of_another_phase) {
  __shared__ Barrier full[2]; if (T < 2) init(&full[T], 128); __syncthreads();
  arrive(&full[1]); wait_for(&full[1], 0); wait_for(&full[1], 1); b[I] = a[I];
}
KERNEL(deadlock__consumers_wait_producers_at_a_barrier) {
  __shared__ Barrier full; if (T == 0) init(&full, 32); __syncthreads();
  if (T < 32) { __syncthreads(); arrive(&full); } else { wait_for(&full, 0); __syncthreads(); }
  b[I] = a[I];
}
KERNEL(deadlock__producer_and_consumer_wait_for_each_other) {
  __shared__ Barrier full[2], empty[2];
  if (T == 0) for (int k = 0; k < 2; ++k) { init(&full[k], 1); init(&empty[k], 96); }
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    if (T == 0) { wait_for(&empty[k % 2], k / 2 % 2); arrive(&full[k % 2]); }
    if (T >= 32) { wait_for(&full[k % 2], k / 2 % 2); arrive(&empty[k % 2]); }
  }
  b[I] = a[I];
}
KERNEL(deadlock__barrier_of_the_library) {
  __shared__ cuda::barrier<cuda::thread_scope_block> met; if (T == 0) init(&met, blockDim.x + 1); __syncthreads();
  met.arrive_and_wait(); b[I] = a[I];
}

// --- clean ---
KERNEL(clean__copy_of_own) { ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); wait<0>(); b[I] = s[T]; }
KERNEL(clean__copy_of_own_not_committed) { ALIGNED float s[128]; copy(&s[T], &a[I]); wait_all(); b[I] = s[T]; }
KERNEL(clean__copy_for_the_warp) { ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); wait<0>(); __syncwarp(); b[I] = s[T ^ 31]; }
KERNEL(clean__copy_never_read) { ALIGNED float s[128]; copy(&s[T], &a[I]); commit(); b[I] = a[I]; }
KERNEL(clean__two_stages) {
  ALIGNED float s[2][128]; copy(&s[0][T], &a[I]); commit(); float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (k < 3) copy(&s[(k + 1) % 2][T], &a[(I + k) % n]);
    commit(); wait<1>(); __syncthreads(); sum += s[k % 2][127 - T]; __syncthreads();
  }
  b[I] = sum;
}
KERNEL(clean__four_stages_one_barrier) {
  ALIGNED float s[4][128]; float sum = 0;
  for (int k = 0; k < 3; ++k) { if (T < 32) copy4(&s[k][4 * T], &a[4 * T]); commit(); }
  for (int k = 0; k < 9; ++k) {
    wait<2>(); __syncthreads(); sum += s[k % 4][127 - T];
    if (k + 3 < 9 && T < 32) copy4(&s[(k + 3) % 4][4 * T], &a[4 * T + 128]);
    commit();
  }
  b[I] = sum;
}
KERNEL(clean__one_thread_copies_for_all) {
  ALIGNED float s[128]; if (T == 0) { for (int k = 0; k < 128; k += 4) copy4(&s[k], &a[k]); wait_all(); } __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(clean__zeros_where_there_is_no_copy) {
  ALIGNED float s[132]; if (T < 100) copy(&s[T], &a[I]); else s[T] = 0; commit(); s[128 + T % 4] = 1; wait<0>(); __syncthreads();
  b[I] = s[131 - T];
}
KERNEL(clean__others_compute_beside_a_copy) {
  ALIGNED float s[128]; ALIGNED float r[128]; if (T >= 64) copy(&s[T - 64], &a[I]); commit(); r[T] = a[I]; __syncthreads();
  float v = r[127 - T]; wait<0>(); __syncthreads(); b[I] = v + s[T % 64];
}
KERNEL(clean__pipeline) {
  ALIGNED float s[128]; __pipeline_memcpy_async(&s[T], &a[I], 4); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(clean__group_copy) {
  ALIGNED float s[128]; auto block = cg::this_thread_block(); cg::memcpy_async(block, s, a + 128 * blockIdx.x, 512); cg::wait(block);
  b[I] = s[127 - T];
}
KERNEL(clean__copies_tell_a_barrier) {
  ALIGNED float s[128]; __shared__ Barrier full; if (T == 0) init(&full, 128); __syncthreads();
  copy(&s[T], &a[I]); arrive_with_copies(&full); wait_for(&full, 0); b[I] = s[127 - T];
}
KERNEL(clean__bulk_copy) {
  ALIGNED float s[128]; __shared__ Barrier bar; if (T == 0) init(&bar, 1); __syncthreads();
  if (T == 0) { expect(&bar, 512); bulk(s, a, 512, &bar); } wait_for(&bar, 0); b[I] = s[127 - T];
}
KERNEL(clean__bulk_copy_waited_for_by_one_thread) {
  ALIGNED float s[128]; __shared__ Barrier bar;
  if (T == 0) { init(&bar, 1); expect(&bar, 512); bulk(s, a, 512, &bar); wait_for(&bar, 0); }
  __syncthreads(); b[I] = s[127 - T];
}
KERNEL(clean__bulk_copies_of_a_producer) {
  ALIGNED float s[2][128]; __shared__ Barrier full[2], empty[2]; float sum = 0;
  if (T == 0) for (int k = 0; k < 2; ++k) { init(&full[k], 1); init(&empty[k], 96); }
  __syncthreads();
  for (int k = 0; k < 6; ++k) {
    const int at = k % 2, phase = k / 2 % 2;
    if (T == 0) { wait_for(&empty[at], phase ^ 1); expect(&full[at], 512); bulk(s[at], a + 128 * phase, 512, &full[at]); }
    if (T >= 32) { wait_for(&full[at], phase); sum += s[at][127 - T]; arrive(&empty[at]); }
  }
  b[I] = sum;
}
KERNEL(clean__barrier_of_the_library) {
  ALIGNED float s[128]; __shared__ cuda::barrier<cuda::thread_scope_block> met; if (T == 0) init(&met, blockDim.x); __syncthreads();
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    cuda::memcpy_async(&s[T], &a[I], 4, met); met.arrive_and_wait(); sum += s[127 - T]; met.arrive_and_wait();
  }
  if (T == 100) for (int k = 0; k < 3000; ++k) sum = sum * 0.5f + 1;
  met.arrive_and_wait(); b[I] = sum;
}
KERNEL(clean__barrier_after_long_work) {
  __shared__ Barrier full; __shared__ float v; if (T == 0) init(&full, 1); __syncthreads();
  if (T == 96) { float x = a[0]; for (int k = 0; k < 5000; ++k) x = x * 0.5f + 1; v = x; arrive(&full); }
  wait_for(&full, 0); b[I] = v;
}
KERNEL(clean__polls_until_another_flag) {
  __shared__ Barrier full; __shared__ int flag; if (T == 0) { init(&full, 200); flag = 0; } __syncthreads();
  if (T == 64) { float x = a[0]; for (int k = 0; k < 3000; ++k) x = x * 0.5f + 1; b[I] = x; atomicExch(&flag, 1); }
  if (T < 32) while (!passed(&full, 0) && atomicAdd(&flag, 0) == 0) {}
  if (T != 64) b[I] = 1;
}
KERNEL(clean__gives_up_waiting) {
  __shared__ Barrier full; if (T == 0) init(&full, 200); __syncthreads();
  int tries = 0; while (!passed(&full, 0) && ++tries < 300) {}
  b[I] = tries;
}
KERNEL(clean__gives_up_after_some_time) {
  __shared__ Barrier full; if (T == 0) init(&full, 200); __syncthreads();
  long long begin = clock64(); while (!passed(&full, 0) && clock64() - begin < 2000) {}
  b[I] = 1;
}
