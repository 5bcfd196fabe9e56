// Where registers, parameters and constants lie in a frame: a row of 32 lanes each. Registers of
// one straight line hand their rows on, so that a frame stays in a cache.
#include <algorithm>

#include "engine/emulator/decoder.h"

namespace assay::emulator {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 1ULL << 30;

}  // namespace

// A register of one straight line takes a row that another one is done with.
std::uint32_t FunctionDecoder::register_row(std::string_view name, Type type) {
  if (text_.program.is_debug) return allocate_row(type);
  std::vector<std::uint32_t>& free = free_rows_[register_bytes(type)];
  if (type == Type::pred || free.empty() || !lives_.last_use(name)) return allocate_row(type);
  const std::uint32_t row = free.back();
  free.pop_back();
  return row;
}

void FunctionDecoder::note_register(std::string_view name, const Symbol& symbol) {
  if (!text_.program.is_debug) return;
  const unsigned bytes = symbol.type == Type::pred ? 0 : register_bytes(symbol.type);
  function_.registers.push_back(
      {.offset = symbol.offset, .lane_bytes = static_cast<std::uint8_t>(bytes), .name = name});
}

void FunctionDecoder::note_last_use(std::string_view name, const Symbol& symbol) {
  if (!symbol.may_share || lives_.last_use(name) != site_.text_offset) return;
  const std::pair row{register_bytes(symbol.type), symbol.offset};
  if (std::find(dying_rows_.begin(), dying_rows_.end(), row) == dying_rows_.end()) {
    dying_rows_.push_back(row);
  }
}

// Not before its end: an instruction may write its result before it has read all it needs.
void FunctionDecoder::release_rows() {
  for (const auto& [bytes, row] : dying_rows_) free_rows_[bytes].push_back(row);
  dying_rows_.clear();
}

std::uint32_t FunctionDecoder::allocate_row(Type type) {
  if (type == Type::pred) {
    if (predicates_left_ == 0) {
      predicate_block_ = static_cast<std::uint32_t>(frame_bytes_);
      predicates_left_ = 16;
      frame_bytes_ += 64;
    }
    const std::uint32_t at = predicate_block_;
    predicate_block_ += 4;
    --predicates_left_;
    return at;
  }
  const std::uint64_t at = frame_bytes_;
  frame_bytes_ += std::uint64_t{register_bytes(type)} * 32;
  if (frame_bytes_ > kMaxFrameBytes) {
    reader_.fail("more registers than can be held");
    frame_bytes_ = 0;
  }
  return static_cast<std::uint32_t>(at);
}

std::uint32_t FunctionDecoder::allocate_words(std::size_t bytes) {
  const std::uint64_t at = frame_bytes_;
  if (bytes > kMaxFrameBytes / 64) {
    reader_.fail("parameter larger than can be held");
    return 0;
  }
  frame_bytes_ += (bytes + 3) / 4 * 128 + (bytes == 0 ? 128 : 0);
  if (frame_bytes_ > kMaxFrameBytes) {
    reader_.fail("more parameters than can be held");
    frame_bytes_ = 0;
  }
  return static_cast<std::uint32_t>(at);
}

std::uint32_t FunctionDecoder::constant_row(unsigned lane_bytes, std::uint64_t bits,
                                            std::int32_t shared) {
  if (lane_bytes == 0) bits = bits != 0 ? 1 : 0;  // a predicate
  if (lane_bytes > 0 && lane_bytes < 8) bits &= (1ULL << (8 * lane_bytes)) - 1;
  const auto [at, fresh] = constants_.try_emplace({lane_bytes, bits, shared}, 0U);
  if (fresh) {
    at->second = allocate_row(lane_bytes == 0   ? Type::pred
                              : lane_bytes == 2 ? Type::b16
                              : lane_bytes == 4 ? Type::b32
                                                : Type::b64);
    function_.constants.push_back({.offset = at->second,
                                   .lane_bytes = static_cast<std::uint8_t>(lane_bytes),
                                   .bits = bits,
                                   .shared_variable = shared});
  }
  return at->second;
}

}  // namespace assay::emulator
