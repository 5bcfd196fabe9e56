// Which stream fills which argument in which trial.
#include <bit>
#include <stdexcept>

#include "engine/judge/generator.h"

namespace assay::judge {
namespace {

// SipHash-2-4 of two 64-bit words: a keyed function, so that seeds seen tell nothing of others.
std::uint64_t siphash(const Secret& key, std::uint64_t first, std::uint64_t second) {
  std::uint64_t v0 = key.low ^ 0x736F6D6570736575;
  std::uint64_t v1 = key.high ^ 0x646F72616E646F6D;
  std::uint64_t v2 = key.low ^ 0x6C7967656E657261;
  std::uint64_t v3 = key.high ^ 0x7465646279746573;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };
  constexpr std::uint64_t kLength = 16ULL << 56;
  for (const std::uint64_t word : {first, second, kLength}) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xFF;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace

Stream contract_stream(std::optional<std::uint64_t> seed, std::size_t arg_index) {
  if (seed) return {.seed = *seed, .id = 0};
  return {.seed = 0, .id = arg_index + 1};
}

std::uint64_t trial_seed(const Secret& secret, std::uint64_t arg_seed, std::uint32_t trial) {
  if (trial == 0) throw std::invalid_argument("trial 0 uses the contract's own seeds");
  return siphash(secret, arg_seed, trial);
}

Stream trial_stream(const Secret& secret, std::optional<std::uint64_t> seed, std::size_t arg_index,
                    std::uint32_t trial) {
  if (trial == 0) return contract_stream(seed, arg_index);
  return {.seed = trial_seed(secret, seed.value_or(0), trial), .id = arg_index + 1};
}

}  // namespace assay::judge
