#include "engine/emulator/shadow.h"

namespace assay::emulator {

void Granule::note_read(const Touch& touch) {
  for (Touch& r : reads) {
    if (r.time == 0 || (r.block == touch.block && r.warp == touch.warp && r.bytes == touch.bytes)) {
      r = touch;
      return;
    }
  }
  reads[0] = reads[1];
  reads[1] = touch;
}

Granule* RaceShadow::at(std::uint64_t address) {
  const std::uint64_t number = address / kPageBytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.page == nullptr || recent.number != number) {
    const auto found = pages_.find(number);
    if (found != pages_.end()) {
      recent = {found->second.get(), number};
    } else if (pages_.size() >= kMaxPages) {
      full_ = true;
      return nullptr;
    } else {
      recent = {pages_.emplace(number, std::make_unique<Page>()).first->second.get(), number};
    }
  }
  return &(*recent.page)[address % kPageBytes / 4];
}

void RaceShadow::forget(std::uint64_t begin, std::uint64_t bytes) {
  for (std::uint64_t a = begin & ~std::uint64_t{3}; a < begin + bytes; a += 4) {
    const auto page = pages_.find(a / kPageBytes);
    if (page != pages_.end()) (*page->second)[a % kPageBytes / 4] = {};
  }
}

std::size_t ByteSet::count() const {
  std::size_t n = 0;
  for (const std::uint64_t b : bits_) n += static_cast<std::size_t>(__builtin_popcountll(b));
  return n;
}

}  // namespace assay::emulator
