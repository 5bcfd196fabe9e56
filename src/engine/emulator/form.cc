#include "engine/emulator/op.h"

namespace assay::emulator {

Form::Form(std::string_view opcode) : opcode_(opcode) {
  std::size_t begin = 0;
  while (begin <= opcode.size() && count_ < kMaxParts) {
    const std::size_t dot = count_ + 1 == kMaxParts ? opcode.npos : opcode.find('.', begin);
    const std::size_t end = dot == opcode.npos ? opcode.size() : dot;
    parts_[count_++] = opcode.substr(begin, end - begin);
    begin = end + 1;
  }
}

bool Form::take(std::string_view modifier) {
  for (unsigned i = 1; i < count_; ++i) {
    if ((taken_ >> i & 1U) == 0 && parts_[i] == modifier) {
      taken_ |= 1U << i;
      return true;
    }
  }
  return false;
}

bool Form::has(std::string_view modifier) const {
  for (unsigned i = 1; i < count_; ++i) {
    if ((taken_ >> i & 1U) == 0 && parts_[i] == modifier) return true;
  }
  return false;
}

std::string_view Form::take_next() {
  for (unsigned i = 1; i < count_; ++i) {
    if ((taken_ >> i & 1U) != 0) continue;
    taken_ |= 1U << i;
    return parts_[i];
  }
  return {};
}

Type Form::take_type() {
  for (unsigned i = 1; i < count_; ++i) {
    if ((taken_ >> i & 1U) != 0) continue;
    const Type t = type_of(parts_[i]);
    if (t != Type::none) {
      taken_ |= 1U << i;
      return t;
    }
  }
  return Type::none;
}

}  // namespace assay::emulator
