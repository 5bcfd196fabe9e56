// More of mistakes.cu, by the same rules and called the same way: numbers that stop being some, masks
// that name lanes which are elsewhere, and the device's heap.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x

// --- infinity, not_a_number ---
KERNEL(infinity__power) { b[I] = powf(a[I] * 10.0f, 30.0f); }
KERNEL(infinity__half_too_narrow) { __half h = __float2half(a[I] * 20000.0f); b[I] = (float)h; }
KERNEL(infinity__half_product) { __half h = __float2half(a[I] * 100.0f); b[I] = __half2float(__hmul(h, h)); }
KERNEL(infinity__pair_of_halves) {
  __half2 h = __floats2half2_rn(a[I], a[I] * 100.0f); h = __hmul2(h, __hmul2(h, h)); b[I] = __low2float(h) + (__hisinf(__high2half(h)) != 0);
}
KERNEL(infinity__double_too_narrow) { b[I] = (float)(a[I] * 1e38); }
KERNEL(not_a_number__arc_cosine) { b[I] = acosf(a[I]); }
// --- partial_mask ---
KERNEL(partial_mask__two_shuffles) {
  float v = a[I]; if (T % 32 < 16) v += __shfl_xor_sync(0xFFFFFFFF, v, 1); else v -= __shfl_xor_sync(0xFFFFFFFF, v, 2);
  b[I] = v;
}
KERNEL(partial_mask__vote_beside_a_shuffle) {
  float v = a[I]; if (T % 2) v = __any_sync(0xFFFFFFFF, v > 3); else v = __shfl_sync(0xFFFFFFFF, v, 0);
  b[I] = v;
}
// --- heap_misuse ---
KERNEL(heap_misuse__one_element_too_far) {
  volatile float* p = (volatile float*)malloc(16); for (int k = 0; k <= 4; ++k) p[k] = a[I]; b[I] = p[2]; free((void*)p);
}
KERNEL(heap_misuse__after_free) { volatile float* p = (volatile float*)malloc(64); p[3] = a[I]; free((void*)p); b[I] = p[3]; }
KERNEL(heap_misuse__before_the_block) {
  volatile float* p = (volatile float*)malloc(8); p[0] = a[I]; b[I] = p[-(int)(T % 32 == 31)] ; free((void*)p);
}
KERNEL(uninitialised_global__block_of_the_heap) {
  volatile float* p = (volatile float*)malloc(16); p[0] = a[I]; b[I] = p[0] + p[1]; free((void*)p);
}
// --- races of less than a word ---
KERNEL(global_race__halves_by_both_blocks) { ((short*)b)[T] = (short)a[I]; }
KERNEL(global_race__bytes_by_both_blocks) { ((unsigned char*)b)[T] = (unsigned char)a[I]; }
KERNEL(global_race__half_precision_by_both_blocks) { ((__half*)b)[T] = __float2half(a[I]); }
KERNEL(global_race__halves_read_by_the_next_block) {
  if (blockIdx.x == 0) ((short*)b)[T] = (short)a[I]; else b[I] = ((short*)b)[T];
}
KERNEL(global_race__halves_written_by_the_next_block) {
  short* s = (short*)c; if (blockIdx.x == 0) b[I] = s[T]; else s[T] = (short)a[I];
}
KERNEL(shared_race__halves_by_four_warps) {
  __shared__ short s[32]; s[T % 32] = (short)(a[I] + T); __syncthreads(); b[I] = s[T % 32];
}
KERNEL(shared_race__one_byte_of_a_word) {
  __shared__ unsigned char s[128]; s[T] = (unsigned char)a[I]; __syncthreads();
  if (T % 32 == 5) s[4 * 7 + 1] = (unsigned char)T; __syncthreads(); b[I] = s[T];
}
KERNEL(shared_race__half_of_a_word_just_written) {
  __shared__ int s[128]; s[T] = (int)a[I]; b[I] = ((short*)s)[2 * (127 - T) + 1];
}
KERNEL(warp_race__halves_by_lanes) {
  __shared__ short s[64]; s[T / 2] = (short)T; __syncthreads(); b[I] = s[T / 2];
}

// --- clean ---
KERNEL(clean__halves_of_both_blocks_in_a_word) { ((short*)b)[2 * T + blockIdx.x] = (short)a[I]; }
KERNEL(clean__bytes_of_both_blocks_in_a_word) {
  unsigned char* p = (unsigned char*)b; p[4 * T + 2 * blockIdx.x] = 1; p[4 * T + 2 * blockIdx.x + 1] = (unsigned char)a[I];
  if (T == 0) c[blockIdx.x] = p[2 * blockIdx.x + 1];
}
KERNEL(clean__bytes_of_four_warps_in_a_word) {
  __shared__ __align__(4) unsigned char s[128]; s[T % 32 * 4 + T / 32] = (unsigned char)a[I]; __syncthreads();
  int word = ((int*)s)[T % 32]; __syncthreads(); if (T < 32) ((int*)s)[31 - T] = word; __syncthreads();
  b[I] = s[T]; __syncthreads(); if (T < 64) ((short*)s)[T] = (short)T; __syncthreads(); b[I] += s[127 - T];
}
KERNEL(clean__halves_then_words) {
  __shared__ __align__(16) short s[256]; s[2 * T] = (short)a[I]; s[2 * T + 1] = (short)T; __syncthreads();
  int w = ((int*)s)[127 - T]; __syncthreads(); ((int*)s)[T] = w + 1; __syncthreads();
  float sum = s[255 - 2 * T]; int4 v = ((int4*)s)[T % 32]; __syncthreads(); s[2 * T + 1] = (short)v.x; __syncthreads();
  b[I] = sum + s[2 * (127 - T) + 1];
}
KERNEL(clean__half_tile_of_many_rounds) {
  __shared__ __half s[2][128]; float sum = 0; s[0][T] = __float2half(a[I]); __syncthreads();
  for (int k = 0; k < 4; ++k) { s[(k + 1) % 2][T] = __float2half(a[I] * k); sum += __half2float(s[k % 2][127 - T]); __syncthreads(); }
  b[I] = sum;
}
KERNEL(clean__all_write_one_byte_the_same) { ((unsigned char*)c)[5] = 1; ((short*)c)[9] = 2; b[I] = a[I]; }
KERNEL(clean__functions_inside_their_domain) {
  float v = a[I]; b[I] = logf(v) + expf(-v) + powf(v, 1.5f) + log1pf(v) + tanhf(v) + erff(v) + acosf(v / 8) + rsqrtf(v) + tgammaf(v) + fmodf(v, 2.0f);
}
KERNEL(clean__double_functions_inside_their_domain) {
  double v = a[I]; b[I] = (float)(log(v) + exp(-v) + pow(v, 1.5) + tanh(v) + erf(v) + acos(v / 8) + rsqrt(v) + sqrt(v) + 1 / v);
}
KERNEL(clean__masked_scores) {
  float v = (int)T % 32 > (int)a[I] ? -__int_as_float(0x7f800000) : a[I]; float m = v;
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFF, m, d));
  b[I] = m > 0 ? expf(v - m) : 0;
}
KERNEL(clean__halves) {
  __half2 h = __floats2half2_rn(a[I], -a[I]); h = __hfma2(h, h, h); b[I] = __low2float(h) + __half2float(hexp(__float2half(-a[I])));
}
KERNEL(clean__two_masks) {
  float v = a[I]; if (T % 32 < 16) v += __shfl_xor_sync(0xFFFF, v, 1); else v -= __shfl_xor_sync(0xFFFF0000, v, 2);
  b[I] = v;
}
KERNEL(clean__heap_in_a_loop) {
  float s = 0; for (int k = 1; k < 4; ++k) { volatile float* p = (volatile float*)malloc(4 * k); p[k - 1] = a[I]; s += p[k - 1]; free((void*)p); }
  b[I] = s;
}
KERNEL(clean__heap_from_another_thread) {
  __shared__ float* volatile p; if (T == 0) { p = (float*)malloc(512); } __syncthreads();
  p[T] = a[I]; __syncthreads(); b[I] = p[127 - T]; __syncthreads(); if (T == 0) free(p);
}
