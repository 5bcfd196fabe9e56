#include "engine/emulator/async_ops.h"

#include <algorithm>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
const T* row(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<const T*>(w.rows + offset);
}

}  // namespace

void op_async_copy(Warp& w, const Op& op) {
  const U64* const to = row<U64>(w, op.d);
  const U64* const to_offset = row<U64>(w, op.b);
  const U64* const from = row<U64>(w, op.a);
  const unsigned bytes = op.aux;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const unsigned wanted = op.c == kNowhere ? bytes : row<U32>(w, op.c)[k];
    const unsigned read = wanted < bytes ? wanted : bytes;
    const U64 source = from[k] + static_cast<U64>(op.imm);
    const U64 target = to[k] + to_offset[k];
    std::byte* const d = host_address(w, Space::shared, k, target, bytes, true);
    const std::byte* s =
        read == 0 ? nullptr : host_address(w, Space::global, k, source, read, false);
    BadAccess bad{.lane = k, .bytes = bytes};
    if (s == nullptr && read != 0 && source % bytes == 0) {
      s = stray_read(w, op, {.lane = k, .address = source, .bytes = read});
    }
    if (d == nullptr || target % bytes != 0) {
      bad.kind = d == nullptr ? FaultKind::out_of_bounds : FaultKind::misaligned;
      bad.space = Space::shared;
      bad.is_write = true;
      bad.address = target;
      fault_access(w, op, bad);
      return;
    }
    if (read != 0 && (s == nullptr || source % bytes != 0)) {
      bad.kind = s == nullptr ? FaultKind::out_of_bounds : FaultKind::misaligned;
      bad.address = source;
      fault_access(w, op, bad);
      return;
    }
    if (w.block->launch().launch.copies_at_once) {
      if (read != 0) std::memcpy(d, s, read);
      std::memset(d + read, 0, bytes - read);
      continue;
    }
    if (w.recording) {
      const auto to = static_cast<U64>(d - w.shared);
      w.watch->copy_begins(w, {.lane = k, .to = to, .bytes = bytes, .from = source, .read = read});
    }
    AsyncCopy& pending = w.copies.emplace_back();
    pending.to = d;
    pending.lane = static_cast<std::uint8_t>(k);
    pending.bytes = static_cast<std::uint8_t>(bytes);
    pending.group = w.copy_groups[k];
    if (read != 0) std::memcpy(pending.data.data(), s, read);
  }
}

void op_async_commit(Warp& w, const Op&) {
  for (U32 m = w.active; m != 0; m &= m - 1) ++w.copy_groups[__builtin_ctz(m)];
}

void op_async_wait(Warp& w, const Op& op) {
  const auto is_over = [&](const AsyncCopy& copy) {
    if ((w.active >> copy.lane & 1U) == 0) return false;
    return op.aux == kAllCopies || std::uint64_t{copy.group} + op.aux < w.copy_groups[copy.lane];
  };
  const auto waiting = std::stable_partition(w.copies.begin(), w.copies.end(), is_over);
  for (auto copy = w.copies.begin(); copy != waiting; ++copy) {
    std::memcpy(copy->to, copy->data.data(), copy->bytes);
  }
  if (w.watch != nullptr) w.watch->copies_arrive(w, {w.copies.begin(), waiting});
  w.copies.erase(w.copies.begin(), waiting);
}

}  // namespace assay::emulator
