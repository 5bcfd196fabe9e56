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

// What most accesses are: no bank is asked for two words of it.
bool is_free_of_conflicts(const std::array<std::uint64_t, 32>& addresses, std::uint32_t lanes) {
  std::array<std::uint64_t, kBanks> word_of_bank{};
  std::uint32_t used = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const std::uint64_t word = addresses[static_cast<std::size_t>(__builtin_ctz(m))] / 4;
    const std::size_t bank = word % kBanks;
    if ((used >> bank & 1U) != 0 && word_of_bank[bank] != word) return false;
    used |= 1U << bank;
    word_of_bank[bank] = word;
  }
  return true;
}

// Wavefronts of one phase: the most words that one bank is asked for.
unsigned passes(const std::array<std::uint64_t, 32>& addresses, std::uint32_t lanes,
                unsigned bytes) {
  if (bytes <= 4 && is_free_of_conflicts(addresses, lanes)) return 1;
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

struct Sectors {
  std::array<std::uint64_t, 64> numbers{};
  unsigned count = 0;
};

// Each once. Addresses mostly rise from lane to lane: then nothing needs to be sorted.
void list_sectors(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                  unsigned bytes, Sectors& out) {
  bool rising = true;
  std::size_t n = 0;
  for (std::uint32_t m = active; m != 0; m &= m - 1) {
    const std::uint64_t a = addresses[static_cast<std::size_t>(__builtin_ctz(m))];
    for (const std::uint64_t s : {a / kSectorBytes, (a + bytes - 1) / kSectorBytes}) {
      if (n != 0 && out.numbers[n - 1] == s) continue;
      rising = rising && (n == 0 || out.numbers[n - 1] < s);
      out.numbers[n++] = s;
    }
  }
  out.count = rising ? static_cast<unsigned>(n) : distinct(out.numbers, n);
}

unsigned lanes_per_phase(unsigned bytes) { return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8; }

}  // namespace

unsigned sectors_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                    unsigned bytes) {
  Sectors s;
  list_sectors(addresses, active, bytes, s);
  return s.count;
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
  Sectors touched;
  list_sectors(addresses, active, bytes, touched);
  r.sectors += touched.count;
  r.bytes += std::uint64_t{bytes} * static_cast<unsigned>(__builtin_popcount(active));
  const Object* object = nullptr;
  std::size_t index = 0;
  for (unsigned i = 0; i < touched.count; ++i) {
    // A sector counts for the object that its bytes belong to; the first of them if two share it.
    const std::uint64_t begin = touched.numbers[i] * kSectorBytes;
    if (object == nullptr || begin + kSectorBytes <= object->begin || begin >= object->end) {
      const auto found = std::find_if(
          table.objects().begin(), table.objects().end(),
          [&](const Object& o) { return begin + kSectorBytes > o.begin && begin < o.end; });
      if (found == table.objects().end()) continue;
      object = &*found;
      index = static_cast<std::size_t>(found - table.objects().begin());
    }
    sectors[index].add(touched.numbers[i] - object->begin / kSectorBytes, 1);
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
