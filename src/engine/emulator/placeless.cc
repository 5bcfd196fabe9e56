// Which line a division is of that the compiler gave none. Of 64 bits it makes two, one of 32 bits
// for operands that fit, and neither keeps its place; what takes the quotient has one.
#include <algorithm>
#include <set>

#include "engine/emulator/decoder.h"

namespace assay::emulator {
namespace {

constexpr std::uint32_t kMostBetween = 400;  // instructions from a quotient to what takes it

bool takes(const Op& op, bool is_store, const std::set<std::uint32_t>& rows) {
  return rows.contains(op.a) || rows.contains(op.b) || rows.contains(op.c) || rows.contains(op.e) ||
         (is_store && rows.contains(op.d));
}

}  // namespace

void FunctionDecoder::note_placeless() {
  if (is_of_no_line_) placeless_pcs_.push_back(text_.watched.back().pc);
}

// Rows are taken as registers: one that was handed on in between at worst names another line.
void FunctionDecoder::place_the_placeless() {
  const auto size = static_cast<std::uint32_t>(text_.code.size());
  const auto is_store = [&](std::uint32_t pc) {
    const auto at =
        std::lower_bound(text_.watched.begin(), text_.watched.end(), pc,
                         [](const WatchedSite& site, std::uint32_t p) { return site.pc < p; });
    return at != text_.watched.end() && at->pc == pc && at->kind == SiteKind::store;
  };
  for (const std::uint32_t division : placeless_pcs_) {
    std::set<std::uint32_t> rows{text_.code[division].d};
    const std::int32_t before = text_.sites[division].location;
    for (std::uint32_t pc = division + 1; pc < std::min(size, division + kMostBetween); ++pc) {
      const Op& op = text_.code[pc];
      if (!takes(op, is_store(pc), rows)) continue;
      if (text_.sites[pc].location != before) {
        text_.sites[division].location = text_.sites[pc].location;
        break;
      }
      if (op.d != kNowhere) rows.insert(op.d);
    }
  }
}

}  // namespace assay::emulator
