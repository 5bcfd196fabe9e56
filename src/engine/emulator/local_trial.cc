#include "engine/emulator/local_trial.h"

#include <algorithm>
#include <map>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/matrix_ops.h"

namespace assay::emulator {
namespace {

void op_stepped(Warp& w, const Op& op) {
  LocalTrial& trial = *w.trial;
  if (!trial.step(w, op)) {
    w.event = Event::fault;
    w.block->launch().end(Ending::stopped, "The trial is over", {});
    return;
  }
  trial.original(op_pc(w, op))(w, op);
}

// Calls that a step is told to be inside of, at most.
constexpr std::size_t kMostCallers = 16;

std::vector<std::uint32_t> callers_of(const Warp& w) {
  std::vector<std::uint32_t> pcs;
  for (const Frame* f = w.frame; f->depth != 0 && pcs.size() < kMostCallers; f = f->parent) {
    pcs.push_back(f->return_pc - 1);
  }
  return pcs;
}

bool is_content(const std::array<std::uint8_t, kContents>& contents, std::uint8_t byte) {
  return std::find(contents.begin(), contents.end(), byte) != contents.end();
}

// A value of an integer's width may be a part of a structure with its padding: bytes that could be
// memory as nobody wrote it count as equal, unless all of the value is and it is no such copy. In
// one, padding may have come through registers.
std::uint64_t without_padding(std::uint64_t v, unsigned bytes, bool copies) {
  std::uint64_t out = v;
  bool whole = true;
  const auto first = static_cast<std::uint8_t>(v);
  for (unsigned i = 0; i < bytes; ++i) {
    const auto byte = static_cast<std::uint8_t>(v >> 8 * i);
    whole = whole && byte == first;
    const bool is_unwritten =
        is_content(kMemoryContents, byte) || (copies && is_content(kRegisterContents, byte));
    if (is_unwritten) out &= ~(std::uint64_t{0xFF} << 8 * i);
  }
  return whole && !copies ? v : out;
}

bool leaves_thread(Space space, std::uint64_t address) {
  if (space == Space::global) return true;
  if (space != Space::generic) return false;
  return address - kSharedWindow >= kWindowBytes && address - kLocalWindow >= kWindowBytes;
}

void mix(std::uint64_t& h, std::uint64_t v) {
  h = (h ^ v) * 0x9E37'79B9'7F4A'7C15;
  h ^= h >> 29;
}

}  // namespace

SteppedCode::SteppedCode(const Module::Text& text)
    : text_(text),
      code_(text.code),
      originals_(text.code.size()),
      site_of_(text.code.size(), -1),
      copies_(text.code.size(), 0) {
  for (std::size_t i = 0; i < text.watched.size(); ++i) {
    const WatchedSite& s = text.watched[i];
    const bool has_address =
        s.kind == SiteKind::load || s.kind == SiteKind::store || s.kind == SiteKind::atomic;
    if (has_address) site_of_[s.pc] = static_cast<std::int32_t>(i);
  }
  for (std::size_t pc = 0; pc < code_.size(); ++pc) {
    Op& op = code_[pc];
    const bool is_other = op.full == &op_branch_table || op.full == &op_fragment_store;
    if (op.guard == kNowhere && site_of_[pc] < 0 && !is_other) continue;
    originals_[pc] = op.masked;
    op.full = &op_stepped;
    op.masked = &op_stepped;
  }
  note_copies();
}

const WatchedSite* SteppedCode::site(std::uint32_t pc) const {
  return site_of_[pc] < 0 ? nullptr : &text_.watched[static_cast<std::size_t>(site_of_[pc])];
}

void SteppedCode::note_copies() {
  std::map<std::int32_t, unsigned> stores;  // by location
  const auto may_leave = [&](std::size_t pc) {
    const WatchedSite* const s = site(static_cast<std::uint32_t>(pc));
    return s != nullptr && s->kind == SiteKind::store &&
           (s->space == Space::global || s->space == Space::generic);
  };
  for (std::size_t pc = 0; pc < code_.size(); ++pc) {
    if (may_leave(pc)) ++stores[text_.sites[pc].location];
  }
  for (std::size_t pc = 0; pc < code_.size(); ++pc) {
    if (!may_leave(pc)) continue;
    const bool several =
        stores[text_.sites[pc].location] > 1 || site(static_cast<std::uint32_t>(pc))->elements > 1;
    copies_[pc] = several ? 1 : 0;
  }
}

const Op* LocalTrial::code_of(Dim3 block, Dim3 grid, const Op* plain) const {
  const std::uint64_t number =
      block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z);
  return sample_.holds(number) ? code_.code() : plain;
}

void LocalTrial::read_access(Warp& w, const Op& op, const WatchedSite& site) {
  at_.has_addresses = true;
  const unsigned address_bytes = site.address == AddressClass::shared32 ? 4 : 8;
  const bool is_atomic = site.kind == SiteKind::atomic;
  bool leaves = site.kind != SiteKind::load;
  for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t a =
        bits_held(w, op.a, k, address_bytes) + static_cast<std::uint64_t>(op.imm);
    at_.addresses[k] = a;
    leaves = leaves && leaves_thread(site.space, a);
  }
  if (!leaves) return;
  const std::array<std::uint32_t, 4> rows =
      is_atomic ? std::array<std::uint32_t, 4>{op.b, op.c, kNowhere, kNowhere}
                : std::array<std::uint32_t, 4>{op.d, op.b, op.c, op.e};
  const unsigned row_bytes = is_atomic ? register_bytes(site.type) : site.row_bytes;
  at_.value_bytes = bytes_of(site.type);
  const std::uint64_t mask =
      at_.value_bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * at_.value_bytes) - 1;
  const unsigned elements = is_atomic ? 2U : site.elements;
  for (unsigned i = 0; i < elements && rows[i] != kNowhere; ++i) {
    for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      std::uint64_t v = bits_held(w, rows[i], k, row_bytes) & mask;
      if (!is_atomic && !is_float(site.type)) {
        v = without_padding(v, at_.value_bytes, code_.copies(at_.pc));
      }
      at_.value[i][k] = v;
    }
    at_.values = i + 1;
  }
}

// An accumulator that nobody filled is in all of it.
void LocalTrial::read_tile(Warp& w, const Op& op) {
  const Fragment& f = w.block->launch().text.transfers[op.aux].fragment;
  const auto space = static_cast<Space>(op.c);
  at_.has_addresses = true;
  at_.is_tile = true;
  bool leaves = true;
  for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    at_.addresses[k] = bits_held(w, op.a, k, 8) + static_cast<std::uint64_t>(op.imm);
    leaves = leaves && leaves_thread(space, at_.addresses[k]);
  }
  if (!leaves) return;
  at_.value_bytes = bits_of(f.element) / 8;
  at_.values = static_cast<unsigned>(std::min(f.rows.size(), at_.value.size()));
  for (unsigned i = 0; i < at_.values; ++i) {
    for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      at_.value[i][k] = bits_held(w, f.rows[i], k, f.register_bytes());
    }
  }
}

void LocalTrial::read_step(Warp& w, const Op& op) {
  at_.pc = op_pc(w, op);
  at_.block = w.block->index();
  at_.warp = w.index;
  at_.active = w.active;
  at_.pass = op.guard == kNowhere ? w.active : w.active & guard_of(w, op);
  at_.has_addresses = false;
  at_.values = 0;
  at_.is_tile = false;
  if (const WatchedSite* const site = code_.site(at_.pc)) {
    read_access(w, op, *site);
  } else if (code_.original(at_.pc) == &op_fragment_store) {
    read_tile(w, op);
  } else if (code_.original(at_.pc) == &op_branch_table) {
    at_.has_addresses = true;
    for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      at_.addresses[k] = bits_held(w, op.a, k, 4);
    }
  }
}

std::uint64_t LocalTrial::digest() const {
  std::uint64_t h = std::uint64_t{at_.pc} << 32 | at_.active;
  mix(h, std::uint64_t{at_.warp} << 32 | at_.pass);
  mix(h, std::uint64_t{at_.block.x} << 32 | (at_.block.y ^ at_.block.z << 16));
  if (!at_.has_addresses) return h;
  for (std::uint32_t m = at_.pass; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    mix(h, at_.addresses[k]);
    for (unsigned i = 0; i < at_.values; ++i) mix(h, at_.value[i][k]);
  }
  return h;
}

bool LocalTrial::step(Warp& w, const Op& op) {
  const std::uint64_t number = steps_;
  if (number > last_ || number >= StepRecord::kMost) return false;
  if (goal_ == Goal::reach && number < last_) {
    ++steps_;
    return true;
  }
  read_step(w, op);
  ++steps_;
  if (goal_ == Goal::reach) {
    found_ = at_;
    found_->callers = callers_of(w);
    return false;
  }
  if (goal_ == Goal::record) {
    record_.steps.push_back(digest());
    return true;
  }
  // Beyond the end of the record there is nothing to compare with.
  if (number >= record_.steps.size()) return false;
  if (digest() == record_.steps[number]) return true;
  found_ = at_;
  steps_ = number;
  return false;
}

}  // namespace assay::emulator
