// Video instructions: arithmetic on a byte, half or word of each operand, or on all the bytes or
// halves of two words at once. Their intermediate results are wider than a word.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/emulator/op.h"

namespace assay::emulator {

enum class VideoOperation : std::uint8_t {
  add,
  subtract,
  average,
  distance,
  minimum,
  maximum,
  shift_left,
  shift_right,
  multiply_add,
  compare,
};
enum class VideoSecond : std::uint8_t { none, add, minimum, maximum };  // with c, on the result
enum class VideoCompare : std::uint8_t { equal, not_equal, less, at_most, greater, at_least };

// What an instruction does, as Op::imm holds it.
struct VideoForm {
  VideoOperation operation = VideoOperation::add;
  VideoSecond second = VideoSecond::none;
  std::uint8_t flags = 0;
  std::uint8_t detail = 0;     // VideoCompare, or how far a product is shifted down
  std::uint16_t a_select = 0;  // of a word: the part; of many parts: four bits for each, the
  std::uint16_t b_select = 0;  // lowest first, which say where it is in b and a
};
inline constexpr std::uint8_t kSignedResult = 0x01;
inline constexpr std::uint8_t kSignedA = 0x02;
inline constexpr std::uint8_t kSignedB = 0x04;
inline constexpr std::uint8_t kSaturate = 0x08;
inline constexpr std::uint8_t kWrapShift = 0x10;
inline constexpr std::uint8_t kPlusOne = 0x20;
inline constexpr std::uint8_t kMinusProduct = 0x40;
inline constexpr std::uint8_t kMinusC = 0x80;
static_assert(sizeof(VideoForm) == 8);

[[nodiscard]] inline std::int64_t video_imm(const VideoForm& f) {
  return std::bit_cast<std::int64_t>(f);
}

// A part of a word: its width and how far up it lies.
[[nodiscard]] constexpr std::uint16_t video_part(unsigned bits, unsigned shift) {
  return static_cast<std::uint16_t>(bits | shift << 8);
}

// d, a, b, c (or kNowhere: 0); aux: the part of d that is written, the rest is c's.
void op_video_word(Warp& w, const Op& op);
// d, a, b, c; aux: bits of a part, mask of parts << 8
void op_video_parts(Warp& w, const Op& op);

}  // namespace assay::emulator
