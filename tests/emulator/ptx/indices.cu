// Index arithmetic that wraps, named by what an inspection must say about it, and kernels whose
// arithmetic wraps on purpose or not at all. All run as 2 blocks of 128 threads on a (256 floats),
// b (256 floats), c (64 ints) and n = 256.
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

KERNEL(index_wrapped__unsigned_below_zero) { unsigned i = I; b[i] = a[i - 1] + a[i]; }
KERNEL(index_wrapped__product_of_strides) { int i = I; int stride = n * n * n; b[i] = a[i * stride * (n - 1) % 7 + i * stride]; }
KERNEL(index_wrapped__unsigned_product) { unsigned row = I * (0x1000000u + n); b[I] = a[row * (unsigned)n]; }
KERNEL(index_wrapped__sum_of_two_large) { int i = n * 0x700000 + (int)T * 0x2000000; if (T >= 8) b[I] = a[i]; }
KERNEL(index_wrapped__store) { unsigned i = I; b[i] = 0; if (i < 4) b[i - 4u] = a[i]; }
KERNEL(index_wrapped__atomic) { unsigned i = T; atomicAdd(&c[i - 64u], 1); }
KERNEL(index_wrapped__shift) { int i = (n + (int)T) << 24; b[I] = a[i]; }
KERNEL(index_wrapped__in_a_loop) { int at = 1; for (int k = 0; k < n / 16; ++k) at *= 5 + (int)T % 2; b[I] = a[at]; }
KERNEL(index_wrapped__narrowed) { long long wide = (long long)n * n * n * (T + 1) + n; int i = (int)(wide * n); b[I] = a[i + 257]; }
KERNEL(index_wrapped__difference_of_loaded) { unsigned d = (unsigned)c[T % 64] - (unsigned)n; b[I] = a[d + T]; }
KERNEL(index_wrapped__one_of_two) { unsigned i = I; if (i % 16 == 0) b[i] = a[i - 3u]; else b[i] = a[i]; }
KERNEL(index_wrapped__chosen) { unsigned i = I; b[i] = a[i % 16 == 0 ? i - 3u : i]; }
KERNEL(index_wrapped__distance_chosen) { unsigned d = T % 2 ? 5u : 1u; b[I] = a[T - d]; }
KERNEL(index_wrapped__the_larger) { unsigned i = I; b[i] = a[max(i - 3u, i % 7)]; }
KERNEL(index_wrapped__the_smaller_of_two) { int big = n * n * n * 128 + (int)T; b[I] = a[min(big + n, (int)I)]; }
KERNEL(index_wrapped__clamped_above_only) { unsigned i = min(I * (0x1000000u + n), 0xFFFFFFF0u) * (unsigned)n; b[I] = a[i]; }
KERNEL(index_wrapped__through_a_shuffle) { unsigned i = __shfl_xor_sync(0xFFFFFFFFu, I - 3u, 1); b[I] = a[i]; }

KERNEL(clean__hash_by_mask) { unsigned h = I * 2654435761u; b[I] = a[h & 255u]; }
KERNEL(clean__hash_by_shift) { unsigned h = I * 2654435761u; b[I] = a[h >> 24]; }
KERNEL(clean__hash_by_modulo) { unsigned h = I * 2654435761u + 12345u; b[I] = a[h % (unsigned)n]; }
KERNEL(clean__generator) {
  unsigned x = I + 1; float s = 0;
  for (int k = 0; k < 20; ++k) { x = x * 1664525u + 1013904223u; s += a[x % 256u]; }
  b[I] = s;
}
KERNEL(clean__xorshift) { unsigned x = I * 747796405u + 2891336453u; x ^= x << 13; x ^= x >> 17; x ^= x << 5; b[I] = a[x & 127u]; }
KERNEL(clean__negative_and_back) { int i = (int)T - 128; b[I] = a[i + 200]; }
KERNEL(clean__unsigned_and_back) { unsigned i = T - 128u; b[I] = a[i + 200u]; }
KERNEL(clean__reversed) { unsigned i = n - 1u - I; b[I] = a[i]; }
KERNEL(clean__minus_one_times) { int i = -1 * (int)T; b[I] = a[127 + i]; }
KERNEL(clean__ring) { unsigned head = 0xFFFFFFF0u + T; b[I] = a[head & 63u]; }
KERNEL(clean__down_to_zero) { float s = 0; for (unsigned k = 10; k-- > 0;) s += a[k]; b[I] = s; }
KERNEL(clean__pointer_and_back) { const float* p = a + 100; b[I] = p[(int)T - 100]; }
KERNEL(clean__large_unsigned_distance) { unsigned u = 3000000000u + T; b[I] = a[u - 3000000000u]; }
KERNEL(clean__difference_of_addresses) { const float* p = a + T; int d = (int)(p - a); b[I] = a[d]; }
KERNEL(clean__wide_from_the_start) { size_t i = (size_t)I * 65536u * 65536u; b[I] = a[i % 251]; }
KERNEL(clean__guarded_halo) { int i = (int)I - 1; b[I] = i >= 0 ? a[i] : 0.0f; }
KERNEL(clean__guarded_unsigned_halo) { unsigned i = I - 1; b[I] = i < (unsigned)n ? a[i] : 0.0f; }
KERNEL(clean__clamped) { unsigned i = min(I - 1u, (unsigned)n - 1u); b[I] = a[i] + a[max((int)T - 5, 0)] + a[min((int)T + 300, n - 1)]; }
KERNEL(clean__distance_up_or_down) { int d = T % 2 ? -1 : 1; b[I] = a[T + d]; }
KERNEL(clean__unsigned_distance_up_or_down) { unsigned d = T % 2 ? 0xFFFFFFFFu : 1u; b[I] = a[T + d]; }
KERNEL(clean__sentinel) { int i = a[I] > 3 ? -1 : (int)I; b[I] = i >= 0 ? a[i] : 0; }
KERNEL(clean__unsigned_sentinel) { unsigned i = a[I] > 3 ? 0xFFFFFFFFu : I; if (i != 0xFFFFFFFFu) b[I] = a[i]; }
KERNEL(clean__ring_by_choice) { unsigned i = T == 0 ? (unsigned)n - 1u : T - 1u; b[I] = a[i]; }
KERNEL(clean__shuffled_and_back) { unsigned i = __shfl_xor_sync(0xFFFFFFFFu, T - 128u, 1); b[I] = a[i + 128u]; }
