#include "engine/runner/pieces.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace assay::runner {
namespace {

class Places {
 public:
  explicit Places(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& one, const Piece& other) { return one.begin < other.begin; });
  }

  [[nodiscard]] std::uint64_t pointer(std::uint64_t offset) const {
    const Piece& piece = before(offset);
    return piece.address + (offset - piece.begin);
  }
  [[nodiscard]] std::uint64_t stretch(std::uint64_t offset, std::uint64_t bytes) const {
    const Piece& piece = before(offset);
    const std::uint64_t from = offset - piece.begin;
    if (from > piece.bytes || bytes > piece.bytes - from) {
      throw std::runtime_error("a copy or fill across several tensors");
    }
    return piece.address + from;
  }

 private:
  // The last that begins there or before. Where several do, the others are empty.
  [[nodiscard]] const Piece& before(std::uint64_t offset) const {
    const auto next =
        std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                         [](std::uint64_t at, const Piece& piece) { return at < piece.begin; });
    if (next == pieces_.begin()) throw std::runtime_error("an address before all tensors");
    auto found = std::prev(next);
    while (found->bytes == 0 && found != pieces_.begin() &&
           std::prev(found)->begin == found->begin) {
      --found;
    }
    return *found;
  }

  std::vector<Piece> pieces_;
};

void put_pointers(SequenceStep& step, const Places& places) {
  for (const std::size_t at : step.pointer_offsets) {
    std::uint64_t value = 0;
    std::memcpy(&value, step.launch.parameters.data() + at, sizeof value);
    value = places.pointer(value);
    std::memcpy(step.launch.parameters.data() + at, &value, sizeof value);
  }
}

}  // namespace

Sequence in_pieces(Sequence sequence, std::vector<Piece> pieces) {
  const Places places(std::move(pieces));
  for (SequenceStep& step : sequence.steps) {
    if (step.kind == SequenceStep::Kind::launch) {
      put_pointers(step, places);
      continue;
    }
    step.to = places.stretch(step.to, step.bytes);
    if (step.kind == SequenceStep::Kind::copy) step.from = places.stretch(step.from, step.bytes);
  }
  return sequence;
}

}  // namespace assay::runner
