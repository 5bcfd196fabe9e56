// Memory of former jobs, kept for the next that asks for as much: an agent's next attempt asks for
// the same. What is kept has a bound in bytes, beyond which the oldest is to go; whoever owns this
// drops it when nothing is on its way there any more.
//
// Owned by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace assay::runner {

template <typename Memory>
class IdleMemory {
 public:
  explicit IdleMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // `asked_bytes` is what it was made for, `bytes` what it takes of the device.
  void put(std::size_t asked_bytes, std::size_t bytes, Memory&& memory) {
    kept_.push_back({asked_bytes, bytes, std::move(memory)});
    bytes_ += bytes;
  }
  // The latest that was made for just as much.
  [[nodiscard]] std::optional<Memory> take(std::size_t asked_bytes) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& one) {
      return one.asked_bytes == asked_bytes;
    });
    if (found == kept_.rend()) return std::nullopt;
    std::optional<Memory> memory(std::move(found->memory));
    bytes_ -= found->bytes;
    kept_.erase(std::next(found).base());
    return memory;
  }

  [[nodiscard]] bool is_empty() const { return kept_.empty(); }
  [[nodiscard]] bool is_too_much() const { return bytes_ > most_bytes_; }
  // Drops the oldest until it is not too much.
  void shrink() {
    while (is_too_much()) {
      bytes_ -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
  }
  void clear() {
    kept_.clear();
    bytes_ = 0;
  }

 private:
  struct Kept {
    std::size_t asked_bytes = 0;
    std::size_t bytes = 0;
    Memory memory{};
  };

  std::vector<Kept> kept_{};  // the latest last
  std::uint64_t bytes_ = 0;
  std::uint64_t most_bytes_;
};

}  // namespace assay::runner
