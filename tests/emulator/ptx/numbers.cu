// More of mistakes.cu, by the same rules and called the same way: numbers that stop being some, and
// what is made of them before anybody sees it.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define KERNEL(name) extern "C" __global__ void name(const float* a, float* b, int* c, int n)
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T threadIdx.x
#define INF __int_as_float(0x7f800000)

// --- infinity ---
KERNEL(infinity__logarithm_of_zero) { b[I] = logf(fabsf(a[I] - 3.0f)); }
KERNEL(infinity__logarithm_of_base_two) { b[I] = log2f(fabsf(a[I] - 3.0f)); }
KERNEL(infinity__logarithm_of_a_double) { b[I] = (float)log((double)fabsf(a[I] - 3.0f)); }
KERNEL(infinity__power_of_a_small_base) { b[I] = powf(a[I] * 0.01f, -40.0f); }
KERNEL(infinity__sum_by_an_atomic) { if (T == 0) b[0] = 1.0f; __syncthreads(); if (I < 128) atomicAdd(b, a[I] * 1e37f); }
KERNEL(infinity__sum_of_a_warp) {
  float sum = a[I] * 2e37f;
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  b[I] = sum;
}
KERNEL(infinity__passed_on_by_a_shuffle) {
  float own = 1.0f / (a[I] - 3.0f);
  b[I] = __shfl_xor_sync(~0u, own, 1);
}
KERNEL(infinity__kept_in_an_array) {
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = 1.0f / (a[(I + k) % n] - 3.0f);
  b[I] = kept[(int)a[I] % 8];
}
KERNEL(infinity__product_of_matrices) {
  __shared__ __align__(32) __half h[256];
  __shared__ __align__(32) __half sums[256];
  for (int k = T; k < 256; k += 128) h[k] = __float2half(a[k] * 100.0f);
  __syncthreads();
  if (T >= 32) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> z;
  wmma::fill_fragment(z, __float2half(0.0f));
  wmma::load_matrix_sync(x, h, 16);
  wmma::load_matrix_sync(y, h, 16);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(sums, z, 16, wmma::mem_row_major);
  __syncwarp();
  b[I] = __half2float(sums[T]);
}
// --- not_a_number ---
KERNEL(not_a_number__logarithm_of_a_negative) { b[I] = logf(2.5f - a[I]); }
KERNEL(not_a_number__power_of_a_negative) { b[I] = powf(2.5f - a[I], 1.3f); }
KERNEL(not_a_number__remainder_by_zero) { b[I] = fmodf(a[I], fabsf(a[I] - 3.0f)); }
KERNEL(not_a_number__row_that_is_all_masked) {
  float most = -INF, sum = 0;
  for (int k = 0; k < 4; ++k) most = fmaxf(most, a[k] < 100.0f ? -INF : a[k]);
  for (int k = 0; k < 4; ++k) sum += __expf((a[k] < 100.0f ? -INF : a[k]) - most);
  b[I] = sum;
}
KERNEL(not_a_number__infinity_times_zero) { float x = __expf(a[I] * 100.0f); b[I] = x * (a[I] - a[I % 7]); }

// --- clean ---
KERNEL(clean__sigmoid_of_much) { float x = (a[I] - 4.0f) * 100.0f; b[I] = 1.0f / (1.0f + __expf(-x)); }
KERNEL(clean__sigmoid_of_much_precise) { float x = (a[I] - 4.0f) * 100.0f; b[I] = 1.0f / (1.0f + expf(-x)); }
KERNEL(clean__gelu_of_much) {
  float x = (a[I] - 4.0f) * 100.0f;
  b[I] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}
KERNEL(clean__quotient_thrown_away) { float q = 1.0f / (a[I] - 3.0f); b[I] = isinf(q) ? 0.0f : q; }
KERNEL(clean__number_thrown_away) { float d = a[I] - 3.0f, q = d / d; b[I] = isnan(q) ? 1.0f : q; }
KERNEL(clean__minimum_of_quotients) { b[I] = fminf(1.0f / fabsf(a[I] - 3.0f), 10.0f); }
KERNEL(clean__row_that_is_masked) {
  float most = -INF, sum = 0;
  for (int k = 0; k < 4; ++k) most = fmaxf(most, k > 1 ? -INF : a[k]);
  for (int k = 0; k < 4; ++k) sum += __expf((k > (int)T % 4 ? -INF : a[k]) - most);
  b[I] = sum;
}
KERNEL(clean__infinity_to_begin_with) { b[I] = I == 0 ? 0.0f : INF; }
KERNEL(clean__infinity_as_a_mask) {
  __shared__ float s[128];
  s[T] = a[I] > 3.0f ? a[I] : -INF;
  __syncthreads();
  b[I] = fmaxf(s[T], fmaxf(s[(T + 3) % 128], s[(T + 5) % 128]));
}
KERNEL(clean__functions_at_their_edges) {
  float d = a[I] - 3.0f;
  b[I] = logf(d * d + 1e-8f) + rsqrtf(d * d + 1e-5f) + powf(fabsf(d), 0.0f) + powf(fabsf(d), 2.0f) +
         atan2f(d, 1.0f) + erff(d * 50.0f) + expf(-d * d * 1000.0f) + fmodf(a[I], 2.0f) + sqrtf(d * d) +
         log1pf(a[I]) + exp2f(-a[I] * 100.0f) + tanhf(d * 300.0f) + cosf(d * 1e4f) + cbrtf(d);
}
KERNEL(clean__doubles_at_their_edges) {
  double d = a[I] - 3.0;
  b[I] = (float)(log(d * d + 1e-8) + pow(fabs(d), 2.0) + exp(-d * d * 1e4) + tanh(d * 300) + fmod((double)a[I], 2.0) + 1.0 / (1.0 + exp(d * 1e4)));
}
KERNEL(clean__half_sum_by_an_atomic) {
  __shared__ float sum;
  if (T == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, a[I]);
  __syncthreads();
  b[I] = sum;
}
