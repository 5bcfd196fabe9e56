// Video instructions: which parts of their operands they work on, and how.
#include <algorithm>
#include <array>

#include "engine/emulator/decoder.h"
#include "engine/emulator/video_ops.h"

namespace assay::emulator {
namespace {

struct Known {
  std::string_view text{};
  VideoOperation operation = VideoOperation::add;
  bool of_parts = true;  // has forms that end in 2 and 4
  bool of_words = true;
};
constexpr std::array kKnown{
    Known{"vadd", VideoOperation::add},
    Known{"vsub", VideoOperation::subtract},
    Known{"vabsdiff", VideoOperation::distance},
    Known{"vmin", VideoOperation::minimum},
    Known{"vmax", VideoOperation::maximum},
    Known{"vset", VideoOperation::compare},
    Known{"vavrg", VideoOperation::average, true, false},
    Known{"vshl", VideoOperation::shift_left, false, true},
    Known{"vshr", VideoOperation::shift_right, false, true},
    Known{"vmad", VideoOperation::multiply_add, false, true},
};

constexpr std::array<std::string_view, 6> kComparisons{"eq", "ne", "lt", "le", "gt", "ge"};

// The part of a word that a selector such as .b2 or .h1 names; 0 for none.
std::uint16_t part_named(std::string_view selector) {
  if (selector.empty()) return video_part(32, 0);
  if (selector.size() != 2 || selector[1] < '0') return 0;
  const auto n = static_cast<unsigned>(selector[1] - '0');
  if (selector[0] == 'b' && n < 4) return video_part(8, 8 * n);
  return selector[0] == 'h' && n < 2 ? video_part(16, 16 * n) : std::uint16_t{0};
}

// .h32 or .b7654: the places of the parts, highest first; four bits each, the lowest part's first.
bool parts_named(std::string_view selector, unsigned parts, std::uint16_t& places) {
  if (selector.empty()) return true;  // what the operand itself holds
  if (selector.size() != parts + 1 || selector[0] != (parts == 2 ? 'h' : 'b')) return false;
  places = 0;
  for (const char c : selector.substr(1)) {
    if (c < '0' || static_cast<unsigned>(c - '0') >= 2 * parts) return false;
    places = static_cast<std::uint16_t>(places << 4 | (c - '0'));
  }
  return true;
}

// .h1 or .b20: the parts of d that are written.
bool mask_named(std::string_view selector, unsigned parts, unsigned& mask) {
  mask = (1U << parts) - 1;
  if (selector.empty()) return true;
  if (selector.size() > parts + 1 || selector[0] != (parts == 2 ? 'h' : 'b')) return false;
  mask = 0;
  for (const char c : selector.substr(1)) {
    if (c < '0' || static_cast<unsigned>(c - '0') >= parts) return false;
    mask |= 1U << (c - '0');
  }
  return mask != 0;
}

bool is_word(Type t) { return t == Type::u32 || t == Type::s32; }

VideoSecond take_second(Form& form) {
  if (form.take("add")) return VideoSecond::add;
  if (form.take("min")) return VideoSecond::minimum;
  return form.take("max") ? VideoSecond::maximum : VideoSecond::none;
}

// The types of d, a and b, of which a comparison names the last two only.
bool take_types(Form& form, VideoForm& f) {
  Type d = Type::u32;
  if (f.operation != VideoOperation::compare) d = form.take_type();
  const Type a = form.take_type();
  const Type b = form.take_type();
  if (!is_word(d) || !is_word(a)) return false;
  if (f.operation == VideoOperation::multiply_add && form.take("po")) f.flags |= kPlusOne;
  if (!is_word(b)) return false;
  if (d == Type::s32) f.flags |= kSignedResult;
  if (a == Type::s32) f.flags |= kSignedA;
  if (b == Type::s32) f.flags |= kSignedB;
  return true;
}

bool take_details(Form& form, VideoForm& f) {
  if (form.take("sat")) f.flags |= kSaturate;
  switch (f.operation) {
    case VideoOperation::compare:
      for (std::size_t i = 0; i < kComparisons.size(); ++i) {
        if (!form.take(kComparisons[i])) continue;
        f.detail = static_cast<std::uint8_t>(i);
        return (f.flags & kSaturate) == 0;
      }
      return false;
    case VideoOperation::shift_left:
    case VideoOperation::shift_right:
      if (form.take("wrap")) f.flags |= kWrapShift;
      return (f.flags & kWrapShift) != 0 || form.take("clamp");
    case VideoOperation::multiply_add:
      f.detail = form.take("shr7") ? 7 : form.take("shr15") ? 15 : 0;
      return true;
    default:
      return true;
  }
}

}  // namespace

// `%r1.b2` without its selector, which is returned; a minus sign moves into `is_minus`.
std::string_view FunctionDecoder::take_selector(Operand& operand, bool& is_minus) {
  is_minus = operand.minus;
  operand.minus = false;
  if (operand.kind != Operand::Kind::word) return {};
  const std::size_t dot = operand.word.rfind('.');
  if (dot == operand.word.npos || register_of({.word = operand.word})) return {};
  if (find_symbol(operand.word.substr(0, dot)) == std::nullopt) return {};  // %tid.x
  const std::string_view selector = operand.word.substr(dot + 1);
  operand.word = operand.word.substr(0, dot);
  return selector;
}

// vadd.u32.s32.s32{.sat}{.min} d{.b1}, a{.h0}, b{, c}
bool FunctionDecoder::emit_video_word(VideoForm f, const std::array<std::string_view, 4>& selectors,
                                      std::uint8_t minus) {
  const std::uint16_t written = part_named(selectors[0]);
  f.a_select = part_named(selectors[1]);
  f.b_select = part_named(selectors[2]);
  if (written == 0 || f.a_select == 0 || f.b_select == 0 || !selectors[3].empty()) return false;
  const bool is_part = written != video_part(32, 0);
  const bool multiplies = f.operation == VideoOperation::multiply_add;
  if (is_part && (multiplies || f.second != VideoSecond::none)) return false;
  if (multiplies) {
    const bool negates = (minus & 0b0110) == 0b0010 || (minus & 0b0110) == 0b0100;
    if (negates) f.flags |= kMinusProduct;
    if ((minus & 0b1000) != 0) f.flags |= kMinusC;
    if ((minus & 1) != 0 || (negates && (minus & 0b1000) != 0)) return false;
    if (minus != 0 && (f.flags & kPlusOne) != 0) return false;
  } else if (minus != 0) {
    return false;
  }
  const bool has_c = is_part || multiplies || f.second != VideoSecond::none;
  if (operands_.size() != (has_c ? 4U : 3U)) return false;
  Op op{.d = result_at(0, Type::b32), .a = source_at(1, Type::b32), .b = source_at(2, Type::b32)};
  if (has_c) op.c = source_at(3, Type::b32);
  op.imm = video_imm(f);
  op.aux = written;
  emit({&op_video_word, &op_video_word}, op);
  return true;
}

// vadd4.s32.s32.s32{.sat}{.add} d{.b20}, a{.b7210}, b{.b3333}, c
bool FunctionDecoder::emit_video_parts(VideoForm f,
                                       const std::array<std::string_view, 4>& selectors,
                                       unsigned parts) {
  unsigned mask = 0;
  f.a_select = parts == 2 ? 0x10 : 0x3210;
  f.b_select = parts == 2 ? 0x32 : 0x7654;
  if (operands_.size() != 4 || !selectors[3].empty() || !mask_named(selectors[0], parts, mask) ||
      !parts_named(selectors[1], parts, f.a_select) ||
      !parts_named(selectors[2], parts, f.b_select)) {
    return false;
  }
  if (f.second != VideoSecond::none && f.second != VideoSecond::add) return false;
  Op op{.d = result_at(0, Type::b32),
        .a = source_at(1, Type::b32),
        .b = source_at(2, Type::b32),
        .c = source_at(3, Type::b32),
        .imm = video_imm(f)};
  op.aux = 32 / parts | mask << 8;
  emit({&op_video_parts, &op_video_parts}, op);
  return true;
}

bool FunctionDecoder::decode_video(Form& form) {
  std::string_view name = form.base();
  const unsigned parts = name.back() == '2' ? 2 : name.back() == '4' ? 4 : 1;
  if (parts != 1) name.remove_suffix(1);
  const auto* const known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.text == name; });
  if (known == kKnown.end() || !(parts == 1 ? known->of_words : known->of_parts)) return false;
  VideoForm f{.operation = known->operation};
  if (!take_types(form, f) || !take_details(form, f)) return false;
  f.second = take_second(form);
  if (operands_.size() < 3 || operands_.size() > 4) return false;
  std::array<std::string_view, 4> selectors{};
  std::uint8_t minus = 0;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    bool is_minus = false;
    selectors[i] = take_selector(operands_[i], is_minus);
    if (is_minus) minus = static_cast<std::uint8_t>(minus | 1U << i);
  }
  if (parts == 1) return emit_video_word(f, selectors, minus);
  return minus == 0 && emit_video_parts(f, selectors, parts);
}

}  // namespace assay::emulator
