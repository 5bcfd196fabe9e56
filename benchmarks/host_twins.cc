#include "benchmarks/host_twins.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace assay::emulator {
namespace {

using Memory = std::vector<std::vector<float>>;

void vadd(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = in[0][i] + in[1][i];
}

// y is what is put out.
void saxpy(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = 0.5F * in[0][i] + out[i];
}

constexpr std::uint32_t kTile = 16;
struct Tile {
  float at[kTile][kTile];
};

// 16x16 threads fetch a tile, as into shared memory.
void fetch(Tile& to, const std::vector<float>& from, std::uint32_t n, std::size_t corner) {
  for (std::uint32_t y = 0; y < kTile; ++y) {
    for (std::uint32_t x = 0; x < kTile; ++x) to.at[y][x] = from[corner + y * n + x];
  }
}

void multiply(Tile& sum, const Tile& a, const Tile& b) {
  for (std::uint32_t y = 0; y < kTile; ++y) {
    for (std::uint32_t k = 0; k < kTile; ++k) {
      for (std::uint32_t x = 0; x < kTile; ++x) sum.at[y][x] += a.at[y][k] * b.at[k][x];
    }
  }
}

void sgemm_block(const Memory& in, std::vector<float>& out, std::uint32_t n, std::uint32_t by,
                 std::uint32_t bx) {
  Tile a;
  Tile b;
  Tile sum{};
  for (std::uint32_t k = 0; k < n; k += kTile) {
    fetch(a, in[0], n, std::size_t{by} * n + k);
    fetch(b, in[1], n, std::size_t{k} * n + bx);
    multiply(sum, a, b);
  }
  for (std::uint32_t y = 0; y < kTile; ++y) {
    for (std::uint32_t x = 0; x < kTile; ++x) out[(by + y) * n + bx + x] = sum.at[y][x];
  }
}

// A barrier ends a loop over the threads of a block.
void sgemm(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  for (std::uint32_t by = 0; by < n; by += kTile) {
    for (std::uint32_t bx = 0; bx < n; bx += kTile) sgemm_block(in, out, n, by, bx);
  }
}

// 1024 blocks of 256 threads, each thread its own sum, then a tree.
void block_sum(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  constexpr std::uint32_t kThreads = 256;
  constexpr std::uint32_t kBlocks = 1024;
  float total = 0;
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    float sum[kThreads] = {};
    for (std::uint32_t i = b * kThreads; i < n; i += kThreads * kBlocks) {
      for (std::uint32_t t = 0; t < kThreads; ++t) sum[t] += in[0][i + t];
    }
    for (std::uint32_t half = kThreads / 2; half != 0; half /= 2) {
      for (std::uint32_t t = 0; t < half; ++t) sum[t] += sum[t + half];
    }
    total += sum[0];
  }
  out[0] = total;
}

void softmax(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  for (std::size_t row = 0; row + n <= in[0].size(); row += n) {
    const float* const x = in[0].data() + row;
    float most = x[0];
    for (std::uint32_t i = 0; i < n; ++i) most = std::max(most, x[i]);
    float sum = 0;
    for (std::uint32_t i = 0; i < n; ++i) sum += out[row + i] = std::exp(x[i] - most);
    for (std::uint32_t i = 0; i < n; ++i) out[row + i] /= sum;
  }
}

void histogram(const Memory& in, std::vector<float>& out, std::uint32_t n) {
  std::uint32_t bins[256] = {};
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &in[0][i], sizeof bits);
    ++bins[bits % 256];
  }
  for (std::size_t i = 0; i < 256; ++i) out[i] = static_cast<float>(bins[i]);
}

constexpr HostTwin kTwins[] = {
    {"vadd", &vadd},          {"saxpy_stride", &saxpy}, {"sgemm", &sgemm},
    {"gemm_blocked", &sgemm}, {"gemm_naive", &sgemm},   {"block_sum", &block_sum},
    {"warp_sum", &block_sum}, {"softmax", &softmax},    {"histogram_shared", &histogram}};

}  // namespace

const HostTwin* host_twin(const char* kernel) {
  for (const HostTwin& t : kTwins) {
    if (std::strcmp(t.kernel, kernel) == 0) return &t;
  }
  return nullptr;
}

}  // namespace assay::emulator
