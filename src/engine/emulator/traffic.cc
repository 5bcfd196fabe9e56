#include "engine/emulator/traffic.h"

#include <algorithm>

namespace assay::emulator {

namespace {

constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;

// The number of distinct values.
template <std::size_t N>
unsigned distinct(std::array<std::uint64_t, N>& values, std::size_t n) {
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<unsigned>(
      std::unique(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n)) -
      values.begin());
}

// Wavefronts of one phase: the most words that one bank is asked for.
unsigned passes(const std::array<std::uint64_t, 32>& addresses, std::uint32_t lanes,
                unsigned bytes) {
  std::array<std::uint64_t, 128> words{};
  std::size_t n = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    for (std::uint64_t w = a / 4; w <= (a + bytes - 1) / 4 && n < words.size(); ++w) words[n++] = w;
  }
  const unsigned all = distinct(words, n);
  std::array<unsigned, kBanks> in_bank{};
  unsigned most = 0;
  for (unsigned i = 0; i < all; ++i) most = std::max(most, ++in_bank[words[i] % kBanks]);
  return most;
}

unsigned lanes_per_phase(unsigned bytes) { return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8; }

}  // namespace

unsigned sectors_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                    unsigned bytes) {
  std::array<std::uint64_t, 64> sectors{};
  std::size_t n = 0;
  for (std::uint32_t m = active; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    sectors[n++] = a / kSectorBytes;
    sectors[n++] = (a + bytes - 1) / kSectorBytes;
  }
  return distinct(sectors, n);
}

unsigned wavefronts_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                       unsigned bytes) {
  const unsigned lanes = lanes_per_phase(bytes);
  unsigned n = 0;
  for (unsigned at = 0; at < 32; at += lanes) {
    const std::uint32_t phase = lanes == 32 ? ~0U : ((1U << lanes) - 1) << at;
    if ((active & phase) != 0) n += passes(addresses, active & phase, bytes);
  }
  return n;
}

unsigned phases_of(std::uint32_t active, unsigned bytes) {
  const unsigned lanes = lanes_per_phase(bytes);
  unsigned n = 0;
  for (unsigned at = 0; at < 32; at += lanes) {
    const std::uint32_t phase = lanes == 32 ? ~0U : ((1U << lanes) - 1) << at;
    if ((active & phase) != 0) ++n;
  }
  return n;
}

Traffic::Traffic(const AddressTable& table, std::size_t ops)
    : global(ops), shared(ops), is_store(ops) {
  for (const Object& o : table.objects()) {
    sectors.emplace_back((o.end - 1) / kSectorBytes - o.begin / kSectorBytes + 1);
  }
}

void Traffic::note_global(std::uint32_t pc, const AddressTable& table,
                          const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                          unsigned bytes) {
  Requests& r = global[pc];
  ++r.requests;
  r.sectors += sectors_of(addresses, active, bytes);
  r.bytes += std::uint64_t{bytes} * static_cast<unsigned>(__builtin_popcount(active));
  for (std::uint32_t m = active; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    const std::int32_t i = table.find(a, bytes);
    if (i < 0) continue;
    const std::uint64_t first = table.objects()[static_cast<std::size_t>(i)].begin / kSectorBytes;
    const std::uint64_t begin = a / kSectorBytes;
    sectors[static_cast<std::size_t>(i)].add(begin - first,
                                             (a + bytes - 1) / kSectorBytes - begin + 1);
  }
}

void Traffic::note_shared(std::uint32_t pc, const std::array<std::uint64_t, 32>& addresses,
                          std::uint32_t active, unsigned bytes) {
  Requests& r = shared[pc];
  ++r.requests;
  r.sectors += wavefronts_of(addresses, active, bytes);
  r.ideal += phases_of(active, bytes);
  r.bytes += std::uint64_t{bytes} * static_cast<unsigned>(__builtin_popcount(active));
}

}  // namespace assay::emulator
