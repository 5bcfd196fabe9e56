#include "engine/emulator/block_sample.h"

#include <algorithm>
#include <random>
#include <set>

namespace assay::emulator {

BlockSample::BlockSample(std::uint64_t blocks, std::uint32_t wanted, std::uint64_t seed)
    : blocks_(blocks) {
  if (wanted == 0 || wanted >= blocks) return;
  std::set<std::uint64_t> chosen{0};
  if (wanted > 1) chosen.insert(blocks - 1);
  // Floyd's way to choose among those between: every set of them is as likely as any other.
  std::mt19937_64 random(seed);
  const std::uint64_t between = wanted > 2 ? blocks - 2 : 0;
  for (std::uint64_t n = between - std::min<std::uint64_t>(between, wanted - chosen.size());
       n < between; ++n) {
    const std::uint64_t one = random() % (n + 1);
    if (!chosen.insert(1 + one).second) chosen.insert(1 + n);
  }
  numbers_.assign(chosen.begin(), chosen.end());
}

bool BlockSample::holds(std::uint64_t number) const {
  return is_all() || std::binary_search(numbers_.begin(), numbers_.end(), number);
}

}  // namespace assay::emulator
