#include "engine/source/ptx_variables.h"

namespace assay::source {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

// Of an instruction it is part of a longer word: ld.global.f32, cvta.to.global.u64.
bool has_word(std::string_view ptx, std::string_view word) {
  for (std::size_t at = ptx.find(word); at != ptx.npos; at = ptx.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_of_name(ptx[at - 1]);
    if (begins && (end == ptx.size() || !is_of_name(ptx[end]))) return true;
  }
  return false;
}

}  // namespace

bool has_global_variables(std::string_view ptx) { return has_word(ptx, ".global"); }
bool has_constant_variables(std::string_view ptx) { return has_word(ptx, ".const"); }

}  // namespace assay::source
