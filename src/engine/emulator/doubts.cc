#include "engine/emulator/doubts.h"

#include <algorithm>
#include <array>

namespace assay::emulator {
namespace {

bool is_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '%' || c == '$';
}

// Registers in a stretch of text; a number, which none is, takes its place without a name.
void take_names(std::string_view text, std::vector<std::string>& into) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const bool is_number = end > i && text[i] >= '0' && text[i] <= '9';
    if (end > i) into.emplace_back(is_number ? std::string_view{} : text.substr(i, end - i));
    i = end + 1;
  }
}

// The first operand: to the first comma that is in no braces or brackets.
std::size_t end_of_first(std::string_view operands) {
  int depth = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const char c = operands[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) return i;
  }
  return operands.size();
}

SpokenOp::Kind kind_of(std::string_view opcode) {
  constexpr std::array<std::string_view, 22> kUses{
      "st",    "red",      "atom",  "bra",  "brx",      "call", "vote",     "match",
      "redux", "mma",      "wmma",  "bar",  "barrier",  "ret",  "stmatrix", "cp",
      "ld",    "ldmatrix", "elect", "cvta", "mbarrier", "sust"};
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "selp") return SpokenOp::Kind::chooses;
  if (base == "shfl") return SpokenOp::Kind::shuffles;
  if (opcode == "and.pred" || opcode == "or.pred") return SpokenOp::Kind::joins;
  const bool uses = std::find(kUses.begin(), kUses.end(), base) != kUses.end();
  return uses ? SpokenOp::Kind::uses : SpokenOp::Kind::computes;
}

}  // namespace

SpokenOp spoken(std::string_view text) {
  SpokenOp out;
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  };
  skip_blanks();
  if (text.starts_with('@')) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.guard = text.substr(1, end - 1);
    if (out.guard.starts_with('!')) out.guard.erase(0, 1);
    text.remove_prefix(end);
    skip_blanks();
  }
  const std::size_t end = std::min(text.find_first_of(" \t;"), text.size());
  const std::string_view opcode = text.substr(0, end);
  out.kind = kind_of(opcode);
  out.is_or = opcode == "or.pred";
  const std::string_view operands = text.substr(end);
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  // What is written by those that use, too; a store's first operand is its address.
  const bool has_result = base != "st" && base != "red" && base != "bra" && base != "bar" &&
                          base != "barrier" && base != "stmatrix" && base != "cp" &&
                          !opcode.starts_with("wmma.store");
  const std::size_t first = has_result ? end_of_first(operands) : 0;
  take_names(operands.substr(0, first), out.results);
  take_names(operands.substr(first), out.sources);
  return out;
}

std::uint32_t Doubts::lanes(const Frame* frame, const std::string& name) const {
  for (const Doubt& d : all_) {
    if (d.frame == frame && d.name == name) return d.lanes;
  }
  return 0;
}

DoubtOrigin Doubts::origin(const Frame* frame, const std::string& name) const {
  for (const Doubt& d : all_) {
    if (d.frame == frame && d.name == name) return d.origin;
  }
  return {};
}

void Doubts::add(const Frame* frame, const std::string& name, std::uint32_t lanes,
                 DoubtOrigin origin) {
  if (lanes == 0) return;
  if (all_.empty()) steps = 0;
  for (Doubt& d : all_) {
    if (d.frame != frame || d.name != name) continue;
    d.lanes |= lanes;
    return;
  }
  all_.push_back({frame, name, lanes, origin});
}

void Doubts::remove(const Frame* frame, const std::string& name, std::uint32_t lanes) {
  std::erase_if(all_, [&](Doubt& d) {
    if (d.frame == frame && d.name == name) d.lanes &= ~lanes;
    return d.lanes == 0;
  });
}

void Doubts::keep_only(std::uint32_t lanes) {
  std::erase_if(all_, [&](Doubt& d) { return (d.lanes &= lanes) == 0; });
}

}  // namespace assay::emulator
