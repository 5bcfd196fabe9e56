#include "engine/emulator/local_fill.h"

#include <algorithm>
#include <cstring>

#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

constexpr std::uint32_t kWordBytes = 4;

void add_places(const Function& f, std::vector<LocalPlace>& out) {
  for (std::uint32_t i = 0; i < f.registers.size(); ++i) {
    const RegisterRow& r = f.registers[i];
    out.push_back({LocalPlace::Kind::reg, f.index, r.offset, r.lane_bytes, i});
  }
  for (const FormalSlot& s : f.results) {
    for (std::uint32_t at = 0; at < s.bytes; at += s.lane_bytes) {
      const auto row = static_cast<std::uint32_t>(s.at(0, at));
      out.push_back({LocalPlace::Kind::result, f.index, row, s.lane_bytes, 0});
    }
  }
  for (std::uint32_t at = 0; at < f.local_bytes; at += kWordBytes) {
    const std::uint32_t bytes = std::min(kWordBytes, f.local_bytes - at);
    out.push_back({LocalPlace::Kind::memory, f.index, at, bytes, 0});
  }
}

void fill_lanes(std::byte* row, std::uint32_t lane_bytes, std::uint32_t lanes, int byte) {
  if (lane_bytes == 0) {  // a predicate
    std::uint32_t held = 0;
    std::memcpy(&held, row, sizeof held);
    held = byte != 0 ? held | lanes : held & ~lanes;
    std::memcpy(row, &held, sizeof held);
    return;
  }
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    std::memset(row + std::size_t{lane_bytes} * static_cast<unsigned>(__builtin_ctz(m)), byte,
                lane_bytes);
  }
}

}  // namespace

LocalFill::LocalFill(const Module::Text& text, std::uint32_t entry) {
  std::vector<std::uint32_t> reached = text.reachable(entry);
  std::sort(reached.begin(), reached.end());
  first_.assign(text.functions.size() + 1, 0);
  std::size_t next = 0;
  for (std::uint32_t f = 0; f < text.functions.size(); ++f) {
    first_[f] = static_cast<std::uint32_t>(places_.size());
    if (next == reached.size() || reached[next] != f) continue;
    add_places(text.functions[f], places_);
    ++next;
  }
  first_.back() = static_cast<std::uint32_t>(places_.size());
  contents_.assign(places_.size(), 0);
}

void LocalFill::choose(std::size_t contents, const std::vector<std::uint32_t>& places) {
  std::fill(contents_.begin(), contents_.end(), std::uint8_t{0});
  for (const std::uint32_t p : places) contents_[p] = static_cast<std::uint8_t>(contents);
}

void LocalFill::enter(Warp& w, std::uint32_t lanes) const {
  const std::uint32_t f = w.frame->function->index;
  for (std::uint32_t i = first_[f]; i < first_[f + 1]; ++i) {
    const LocalPlace& p = places_[i];
    if (p.kind != LocalPlace::Kind::memory) {
      // A structure that is returned has padding, too.
      const auto& bytes = p.kind == LocalPlace::Kind::reg ? kRegisterContents : kMemoryContents;
      fill_lanes(w.frame->rows + p.offset, p.bytes, lanes, bytes[contents_[i]]);
      continue;
    }
    std::byte* const at = w.local + w.frame->local_base + p.offset;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto k = static_cast<std::uint64_t>(__builtin_ctz(m));
      std::memset(at + k * w.local_capacity, kMemoryContents[contents_[i]], p.bytes);
    }
  }
}

}  // namespace assay::emulator
