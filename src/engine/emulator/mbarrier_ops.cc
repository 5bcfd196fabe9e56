#include "engine/emulator/mbarrier_ops.h"

#include <cstring>
#include <utility>

#include "engine/emulator/atomic_ops.h"
#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T* row(Warp& w, U32 offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

using Word = MbarrierWord;

std::byte* locate(Warp& w, const Op& op, const BadAccess& wanted) {
  std::byte* p =
      host_address(w, wanted.space, wanted.lane, wanted.address, wanted.bytes, wanted.is_write);
  const U64 alignment = wanted.bytes < 16 ? wanted.bytes : 16;
  const bool misaligned = wanted.bytes != 0 && wanted.address % alignment != 0;
  if (p == nullptr && !misaligned && !wanted.is_write) p = stray_read(w, op, wanted);
  if (p != nullptr && !misaligned) return p;
  BadAccess bad = wanted;
  bad.kind = p != nullptr ? FaultKind::misaligned : FaultKind::out_of_bounds;
  fault_access(w, op, bad);
  return nullptr;
}

std::byte* barrier_at(Warp& w, const Op& op, Space space, unsigned lane, U64 address) {
  return locate(w, op,
                {.space = space,
                 .is_write = true,
                 .is_atomic = true,
                 .lane = lane,
                 .address = address,
                 .bytes = 8});
}

void store(std::byte* p, const Word& word) {
  const U64 bits = word.bits();
  std::memcpy(p, &bits, sizeof bits);
}

bool arrive(Warp& w, const Op& op, unsigned lane, Word& word, bool drops) {
  const std::uint32_t count = op.b == kNowhere ? 1 : row<U32>(w, op.b)[lane];
  if (op.c != kNowhere) word.bytes += static_cast<std::int32_t>(row<U32>(w, op.c)[lane]);
  if (count > word.pending) {
    fault_simple(w, op, FaultKind::invalid_barrier, lane,
                 "mbarrier has " + std::to_string(word.pending) +
                     " arrivals pending in its phase, " + std::to_string(count) + " more arrived");
    return false;
  }
  word.pending -= count;
  if (drops) word.expected -= count;
  word.settle();
  return true;
}

void tell_bytes(Warp& w, std::byte* barrier, std::size_t bytes) {
  Block& block = *w.block;
  Word word = Word::at(barrier);
  const bool odd = word.odd;
  word.bytes -= static_cast<std::int32_t>(bytes);
  word.settle();
  store(barrier, word);
  block.waits().arrived(barrier, bytes);
  block.waits().changed(barrier, word.odd != odd);
  if (w.watch != nullptr && word.odd != odd) w.watch->phase_over(w, barrier);
}

// What was on its way to this barrier's waiters is there, as far as its phase waits for it.
void land_copies(Warp& w, unsigned lane, std::byte* barrier) {
  const bool phase = Word::at(barrier).odd;
  std::erase_if(w.block->bulk_copies(), [&](const BulkCopy& copy) {
    if (copy.barrier != barrier || Word::at(barrier).odd != phase) return false;
    std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
    tell_bytes(w, barrier, copy.bytes.size());
    if (w.watch != nullptr) {
      w.watch->bulk_copy_arrives(w, lane, static_cast<U64>(copy.to - w.shared), copy.bytes.size());
    }
    return true;
  });
}

// The barrier that a bulk copy reports to; nullptr: a fault.
std::byte* reported_to(Warp& w, const Op& op, unsigned lane) {
  // The bytes are plain accesses, what is told to the barrier is none.
  const U64 address = row<U64>(w, op.c)[lane];
  const bool recording = std::exchange(w.recording, false);
  if (recording) {
    w.watch->touch(w, {.space = Space::shared,
                       .lane = lane,
                       .address = address,
                       .bytes = 8,
                       .write = true,
                       .atomic = true});
  }
  std::byte* const barrier = barrier_at(w, op, Space::shared, lane, address);
  w.recording = recording;
  return barrier;
}

}  // namespace

MbarrierWord MbarrierWord::at(const std::byte* p) {
  U64 bits = 0;
  std::memcpy(&bits, p, sizeof bits);
  return of(bits);
}

std::byte* tested_barrier(Warp& w, const Op& op, unsigned lane) {
  return host_address(w, static_cast<Space>(op.aux & 0xFFU), lane,
                      row<U64>(w, op.a)[lane] + static_cast<U64>(op.imm), 8, true);
}

bool phase_is_over(Warp& w, const Op& op, unsigned lane, const std::byte* barrier) {
  const bool by_parity = (op.aux >> 16 & 1U) != 0;
  const bool odd =
      by_parity ? (row<U32>(w, op.b)[lane] & 1U) != 0 : Word::of(row<U64>(w, op.b)[lane]).odd;
  return Word::at(barrier).odd != odd;
}

void op_mbarrier(Warp& w, const Op& op) {
  const auto space = static_cast<Space>(op.aux & 0xFFU);
  const auto what = static_cast<BarrierWord>(op.aux >> 8 & 0xFFU);
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* const p =
        barrier_at(w, op, space, k, row<U64>(w, op.a)[k] + static_cast<U64>(op.imm));
    if (p == nullptr) return;
    Word word = Word::at(p);
    const U64 before = word.bits();
    switch (what) {
      case BarrierWord::init: {
        const U32 count = row<U32>(w, op.b)[k];
        if (count == 0 || count > Word::kCount) {
          fault_simple(
              w, op, FaultKind::invalid_barrier, k,
              "mbarrier.init with a count of " + std::to_string(count) + " (1 to 1048575)");
          return;
        }
        word = {.pending = count, .expected = count};
        break;
      }
      case BarrierWord::invalidate:
        word = {};
        break;
      case BarrierWord::arrive:
      case BarrierWord::arrive_drop:
        if (!arrive(w, op, k, word, what == BarrierWord::arrive_drop)) return;
        break;
      case BarrierWord::expect_bytes:
        word.bytes += static_cast<std::int32_t>(row<U32>(w, op.b)[k]);
        break;
      case BarrierWord::complete_bytes:
        word.bytes -= static_cast<std::int32_t>(row<U32>(w, op.b)[k]);
        w.block->waits().arrived(p, row<U32>(w, op.b)[k]);
        word.settle();
        break;
    }
    store(p, word);
    const bool is_new = what == BarrierWord::init || what == BarrierWord::invalidate;
    const bool is_over = word.odd != Word::of(before).odd;
    w.block->waits().changed(p, is_new || is_over);
    if (w.watch != nullptr && is_new) w.watch->phases_begin(w, p);
    if (w.watch != nullptr && is_over && !is_new) w.watch->phase_over(w, p);
    if (op.d != kNowhere) row<U64>(w, op.d)[k] = before;
  }
}

void op_mbarrier_test(Warp& w, const Op& op) {
  const auto space = static_cast<Space>(op.aux & 0xFFU);
  U32 done = 0;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* const p =
        barrier_at(w, op, space, k, row<U64>(w, op.a)[k] + static_cast<U64>(op.imm));
    if (p == nullptr) return;
    if (!phase_is_over(w, op, k, p)) land_copies(w, k, p);
    const bool is_over = phase_is_over(w, op, k, p);
    if (is_over && w.watch != nullptr) w.watch->phase_seen(w, p, op, k);
    done |= static_cast<U32>(is_over) << k;
  }
  U32& result = predicate(w, op.d);
  result = (result & ~w.active) | done;
  if (done == w.active) return;
  w.block->waits().failed();
  // Whoever is waited for should run now.
  w.turns += 8192;
  w.slice = -1;
}

void op_mbarrier_pending(Warp& w, const Op& op) {
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    row<U32>(w, op.d)[k] = Word::of(row<U64>(w, op.a)[k]).pending;
  }
}

void op_bulk_copy(Warp& w, const Op& op) {
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const U32 bytes = row<U32>(w, op.b)[k];
    if (bytes % 16 != 0) {
      fault_simple(w, op, FaultKind::misaligned, k,
                   "cp.async.bulk of " + std::to_string(bytes) + " bytes, no multiple of 16");
      return;
    }
    std::byte* const to = locate(w, op,
                                 {.space = static_cast<Space>(op.aux & 0xFFU),
                                  .is_write = true,
                                  .lane = k,
                                  .address = row<U64>(w, op.d)[k],
                                  .bytes = bytes});
    if (to == nullptr) return;
    const std::byte* const from = locate(w, op,
                                         {.space = static_cast<Space>(op.aux >> 8 & 0xFFU),
                                          .lane = k,
                                          .address = row<U64>(w, op.a)[k],
                                          .bytes = bytes});
    if (from == nullptr) return;
    std::byte* const barrier = op.c == kNowhere ? nullptr : reported_to(w, op, k);
    if (op.c != kNowhere && barrier == nullptr) return;
    const auto combine = reinterpret_cast<AtomicForm::Combine>(op.imm);
    if (combine != nullptr) {
      for (U32 at = 0; at < bytes; at += op.aux >> 16) combine(to + at, from + at);
      if (barrier != nullptr) tell_bytes(w, barrier, bytes);
      continue;
    }
    if (barrier == nullptr) {
      std::memmove(to, from, bytes);
      continue;
    }
    BulkCopy copy{.to = to, .barrier = barrier};
    copy.bytes.assign(from, from + bytes);
    w.block->bulk_copies().push_back(std::move(copy));
    const bool at_once = w.block->launch().launch.copies_at_once;
    if (at_once) land_copies(w, k, barrier);
    if (!at_once && w.recording) {
      w.watch->copy_begins(w, {.lane = k,
                               .to = static_cast<U64>(to - w.shared),
                               .bytes = bytes,
                               .from_space = static_cast<Space>(op.aux >> 8 & 0xFFU),
                               .from = row<U64>(w, op.a)[k],
                               .read = bytes});
    }
  }
}

}  // namespace assay::emulator
