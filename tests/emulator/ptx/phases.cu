// More of mistakes.cu, by the same rules and called the same way: phases of mbarriers that are over
// too early, and what copies under way still read.
#define KERNEL(name) extern "C" __global__ void name(float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define ALIGNED __shared__ __align__(16)
typedef unsigned long long Barrier;

__device__ __forceinline__ unsigned shared_of(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_of(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
__device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory"); }
__device__ __forceinline__ void init(Barrier* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_of(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(Barrier* bar) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(shared_of(bar)) : "memory");
}
__device__ __forceinline__ void wait_for(Barrier* bar, int parity) {
  int done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared_of(bar)), "r"(parity) : "memory");
  } while (done == 0);
}
__device__ __forceinline__ void expect(Barrier* bar, int bytes) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(shared_of(bar)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk(float* to, const float* from, int bytes, Barrier* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(to)),
               "l"(from), "r"(bytes), "r"(shared_of(bar)) : "memory");
}

// One warp fills two stages for three that read them; each of those arrives once per stage.
template <int EmptyCount>
__device__ __forceinline__ void staged(const float* a, float* b) {
  __shared__ float s[2][32];
  __shared__ Barrier full[2], empty[2];
  if (T == 0) for (int k = 0; k < 2; ++k) { init(&full[k], 32); init(&empty[k], EmptyCount); }
  __syncthreads();
  const int lane = T % 32;
  float sum = 0;
  for (int k = 0; k < 8; ++k) {
    const int at = k % 2, phase = k / 2 % 2;
    if (T < 32) {
      wait_for(&empty[at], phase ^ 1);
      s[at][lane] = a[k * 32 + lane];
      arrive(&full[at]);
    } else {
      wait_for(&full[at], phase);
      sum += s[at][31 - lane];
      __syncwarp();
      if (lane == 0) arrive(&empty[at]);
    }
  }
  b[I] = sum;
}

// --- shared_race ---
KERNEL(shared_race__stage_that_one_of_three_has_read) { staged<1>(a, b); }
KERNEL(shared_race__one_stage_that_one_of_three_has_read) {
  __shared__ float s[32];
  __shared__ Barrier full, empty;
  if (T == 0) { init(&full, 32); init(&empty, 1); }
  __syncthreads();
  const int lane = T % 32;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (T < 32) {
      if (k > 0) wait_for(&empty, (k - 1) % 2);
      s[lane] = a[k * 32 + lane];
      arrive(&full);
    } else {
      wait_for(&full, k % 2);
      sum += s[31 - lane];
      __syncwarp();
      if (lane == 0) arrive(&empty);
    }
  }
  b[I] = sum;
}
// --- global_race ---
KERNEL(global_race__source_written_before_the_wait) {
  ALIGNED float s[128];
  copy(&s[T], &a[I]); commit(); a[I] = 1.0f; wait<0>(); __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(global_race__source_written_by_others_behind_a_barrier) {
  ALIGNED float s[128];
  copy(&s[T], &a[I]); commit(); __syncthreads(); a[blockIdx.x * 128 + 127 - T] = 1.0f; wait<0>(); __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(global_race__source_of_a_bulk_copy_written) {
  ALIGNED float s[128]; __shared__ Barrier bar;
  if (T == 0) init(&bar, 1);
  __syncthreads();
  if (T == 0) { expect(&bar, 512); bulk(s, a + 128 * blockIdx.x, 512, &bar); }
  __syncthreads();
  a[I] = 1.0f;
  wait_for(&bar, 0);
  b[I] = s[127 - T];
}

// --- clean ---
KERNEL(clean__stages_that_three_have_read) { staged<3>(a, b); }
KERNEL(clean__source_written_after_the_wait) {
  ALIGNED float s[128];
  copy(&s[T], &a[I]); commit(); wait<0>(); a[I] = s[T] + 1.0f; __syncthreads();
  b[I] = s[127 - T];
}
KERNEL(clean__written_beside_the_sources) {
  ALIGNED float s[2][128];
  if (T < 64) copy(&s[0][T], &a[blockIdx.x * 128 + T]);
  commit();
  if (T >= 64) a[I] = 2.0f;
  wait<0>();
  __syncthreads();
  b[I] = s[0][T % 64];
}
KERNEL(clean__stage_after_stage_in_place) {
  ALIGNED float s[2][64];
  float* const row = a + blockIdx.x * 128;
  if (T < 64) { copy(&s[0][T], &row[T]); commit(); copy(&s[1][T], &row[64 + T]); commit(); wait<1>(); row[T] = s[0][T] * 2.0f; wait<0>(); row[64 + T] = s[1][T]; }
  __syncthreads();
  b[I] = a[I] > 0.0f;
}
KERNEL(clean__source_of_a_bulk_copy_written_after_it) {
  ALIGNED float s[128]; __shared__ Barrier bar;
  if (T == 0) init(&bar, 1);
  __syncthreads();
  if (T == 0) { expect(&bar, 512); bulk(s, a + 128 * blockIdx.x, 512, &bar); }
  wait_for(&bar, 0);
  a[I] = 1.0f;
  b[I] = s[127 - T];
}
KERNEL(clean__phases_waited_for_by_turns) {
  __shared__ float s[2][32];
  __shared__ Barrier full;
  if (T == 0) init(&full, 32);
  __syncthreads();
  const int warp = T / 32, lane = T % 32;
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    if (warp == 0) { s[k % 2][lane] = a[k * 32 + lane]; arrive(&full); }
    if (warp == 1 + k % 2) wait_for(&full, k % 2);
    __syncthreads();
    sum += s[k % 2][31 - lane];
    __syncthreads();
  }
  b[I] = sum;
}
KERNEL(clean__everybody_arrives_and_waits) {
  __shared__ float s[128];
  __shared__ Barrier met;
  if (T == 0) init(&met, 128);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 20; ++k) {
    s[T] = a[I] + k; arrive(&met); wait_for(&met, 0);
    sum += s[127 - T]; arrive(&met); wait_for(&met, 1);
  }
  b[I] = sum;
}
