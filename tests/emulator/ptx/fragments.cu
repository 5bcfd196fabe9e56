// Matrices in the registers of a warp that nobody filled, and beside them ones that somebody did; a
// debug build, as locals.cu is. All run as one warp on a (256 halves), b (256 floats) and c (256
// halves).
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define KERNEL(name) extern "C" __global__ void name(const __half* a, float* b, __half* c)
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> Left;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> Right;
template <class T> using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, T>;

KERNEL(missing__sums) {
  Left x; Right y; Sums<float> sums;
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16);
  for (int k = 0; k < 2; ++k) wmma::mma_sync(sums, x, y, sums);
  wmma::store_matrix_sync(b, sums, 16, wmma::mem_row_major);
}
KERNEL(missing__narrow) {
  Left x; Right y; Sums<__half> narrow;
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16); wmma::mma_sync(narrow, x, y, narrow);
  wmma::store_matrix_sync(c, narrow, 16, wmma::mem_row_major);
}
KERNEL(missing__right) {
  Left x; Right right; Sums<float> sums;
  wmma::fill_fragment(sums, 0.0f); wmma::load_matrix_sync(x, a, 16); wmma::mma_sync(sums, x, right, sums);
  wmma::store_matrix_sync(b, sums, 16, wmma::mem_row_major);
}
KERNEL(missing__second) {
  Left x; Right y; Sums<float> first, second; __shared__ float tile[256];
  wmma::fill_fragment(first, 0.0f); wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16);
  wmma::mma_sync(second, x, y, second); wmma::mma_sync(first, x, y, first);
  wmma::store_matrix_sync(tile, second, 16, wmma::mem_row_major);
  __syncwarp(); b[threadIdx.x] = tile[8 * threadIdx.x];
}

KERNEL(clean__filled) {
  Left x; Right y; Sums<float> sums;
  wmma::fill_fragment(sums, 0.0f); wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16);
  wmma::mma_sync(sums, x, y, sums); wmma::store_matrix_sync(b, sums, 16, wmma::mem_row_major);
}
KERNEL(clean__loaded) {
  Left x; Right y; Sums<__half> sums;
  wmma::load_matrix_sync(sums, a, 16, wmma::mem_col_major); wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16);
  wmma::mma_sync(sums, x, y, sums); wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}
KERNEL(clean__element_by_element) {
  Left x; Right y; Sums<float> sums, other;
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = 0;
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16); wmma::mma_sync(other, x, y, sums);
  for (int i = 0; i < other.num_elements; ++i) other.x[i] *= 0.5f;
  wmma::store_matrix_sync(b, other, 16, wmma::mem_row_major);
}
KERNEL(clean__never_stored) {
  Left x; Right y; Sums<float> sums;
  wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, a, 16); wmma::mma_sync(sums, x, y, sums);
  b[threadIdx.x] = 1;
}
