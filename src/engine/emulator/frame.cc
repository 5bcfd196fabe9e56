// Function activations: registers, arguments, results and the local stack of the lanes inside.
#include <algorithm>
#include <cstring>
#include <new>

#include "engine/emulator/block.h"
#include "engine/emulator/garbage.h"
#include "engine/emulator/local_trial.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kAlignment = 64;

void fill_row(std::byte* row, std::uint8_t lane_bytes, std::uint64_t bits) {
  if (lane_bytes == 0) {  // a predicate
    const std::uint32_t mask = bits != 0 ? kAllLanes : 0;
    std::memcpy(row, &mask, sizeof mask);
    return;
  }
  for (unsigned k = 0; k < 32; ++k) std::memcpy(row + k * lane_bytes, &bits, lane_bytes);
}

void set_special(Warp& w, std::byte* row, const SpecialRow& s) {
  for (unsigned k = 0; k < 32; ++k) {
    const std::uint64_t bits = w.block->special(w, s.special, k);
    std::memcpy(row + k * s.lane_bytes, &bits, s.lane_bytes);
  }
}

bool changes_with_block(Special s) {
  return s == Special::ctaid_x || s == Special::ctaid_y || s == Special::ctaid_z ||
         s == Special::smid;
}

void set_changing_rows(Warp& w, Frame& f) {
  for (const SpecialRow& s : f.function->specials) {
    if (!changes_with_block(s.special)) continue;
    fill_row(f.rows + s.offset, s.lane_bytes, w.block->special(w, s.special, 0));
  }
}

Frame* make_frame(Warp& w, const Function& function) {
  if (w.spare.size() <= function.index) w.spare.resize(function.index + 1);
  std::vector<Frame*>& spare = w.spare[function.index];
  if (!spare.empty()) {
    Frame* const f = spare.back();
    spare.pop_back();
    return f;
  }
  const std::size_t bytes = function.frame_bytes + kAlignment;
  if (!w.block->reserve_memory(bytes)) return nullptr;
  auto frame = std::make_unique<Frame>();
  frame->storage = std::make_unique<std::byte[]>(bytes);
  frame->function = &function;
  const auto at = reinterpret_cast<std::uintptr_t>(frame->storage.get());
  frame->rows = frame->storage.get() + ((kAlignment - at % kAlignment) % kAlignment);
  frame->id = w.next_frame_id++;
  for (const ConstantRow& c : function.constants) {
    fill_row(frame->rows + c.offset, c.lane_bytes, w.block->constant(c));
  }
  for (const SpecialRow& s : function.specials) set_special(w, frame->rows + s.offset, s);
  w.frames.push_back(std::move(frame));
  return w.frames.back().get();
}

// The stack a thread needs for one activation: its local variables, and what a device would spill.
std::uint64_t stack_bytes(const Function& f) {
  return (std::uint64_t{f.local_bytes} + f.frame_bytes / 32 + 31) & ~std::uint64_t{15};
}

void copy_rows(std::byte* to, const FormalSlot& d, const std::byte* from, const FormalSlot& s,
               std::uint32_t mask) {
  const unsigned bytes = std::min(d.bytes, s.bytes);
  const unsigned step = d.lane_bytes == s.lane_bytes ? d.lane_bytes : 1;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    for (unsigned i = 0; i < bytes; i += step) {
      std::memcpy(to + d.at(k, i), from + s.at(k, i), step);
    }
  }
}

}  // namespace

bool grow_local(Warp& w, std::uint64_t bytes) {
  if (bytes <= w.local_bytes) return true;
  if (bytes > w.local_capacity) {
    std::uint64_t capacity = std::max<std::uint64_t>(w.local_capacity * 2, bytes);
    capacity = std::min(capacity, std::max(bytes, w.block->local_limit()));
    capacity = (capacity + 63) & ~std::uint64_t{63};
    if (!w.block->reserve_memory(capacity * 32 + kAlignment)) return false;
    auto storage = std::make_unique<std::byte[]>(capacity * 32 + kAlignment);
    const auto at = reinterpret_cast<std::uintptr_t>(storage.get());
    std::byte* const local = storage.get() + ((kAlignment - at % kAlignment) % kAlignment);
    fill_with_garbage(local, capacity * 32, w.block->garbage());
    for (unsigned k = 0; k < 32 && w.local_bytes != 0; ++k) {
      std::memcpy(local + k * capacity, w.local + k * w.local_capacity, w.local_bytes);
    }
    w.local = local;
    w.local_storage = std::move(storage);
    w.local_capacity = capacity;
  }
  w.local_bytes = bytes;
  return true;
}

bool make_entry_frame(Warp& w, const Function& entry) {
  Frame* const f = make_frame(w, entry);
  return f != nullptr && grow_local(w, entry.local_bytes);
}

void reclaim_frames(Warp& w) {
  for (std::vector<Frame*>& spare : w.spare) spare.clear();
  for (const auto& f : w.frames) {
    if (f != w.frames.front()) w.spare[f->function->index].push_back(f.get());
  }
  w.frames.front()->first_child = nullptr;
  w.exited_in_call = false;
}

void set_block_rows(Warp& w) { set_changing_rows(w, *w.frame); }

void enter_function(Warp& w, const Op& op, const Function& function, const CallSite& call) {
  Frame* const parent = w.frame;
  const std::uint32_t return_pc = w.pc;
  Frame* frame = nullptr;
  for (Frame* f = parent->first_child; f != nullptr; f = f->next_sibling) {
    if (f->return_pc == return_pc && f->function == &function) frame = f;
  }
  if (frame == nullptr) {
    const std::uint64_t base = parent->local_base + stack_bytes(*parent->function) +
                               ((parent->dynamic_bytes + 15) & ~std::uint64_t{15});
    if (base + stack_bytes(function) > w.block->local_limit()) {
      fault_simple(w, op, FaultKind::stack_overflow, static_cast<unsigned>(__builtin_ctz(w.active)),
                   "Stack overflow: the call of " + function.name + " at depth " +
                       std::to_string(parent->depth + 1) + " needs more than " +
                       std::to_string(w.block->local_limit()) + " bytes per thread");
      return;
    }
    frame = make_frame(w, function);
    if (frame == nullptr || !grow_local(w, base + function.local_bytes)) {
      w.block->out_of_memory(w);
      return;
    }
    frame->parent = parent;
    frame->return_pc = return_pc;
    frame->depth = parent->depth + 1;
    frame->lanes = 0;
    frame->dynamic_bytes = 0;
    frame->local_base = static_cast<std::uint32_t>(base);
    frame->call = &call;
    frame->first_child = nullptr;
    frame->next_sibling = parent->first_child;
    parent->first_child = frame;
    set_changing_rows(w, *frame);
  }
  frame->lanes |= w.active;
  if (w.trial != nullptr) {
    w.frame = frame;
    w.trial->entered(w, w.active);
  }
  const std::size_t n = std::min(call.arguments.size(), function.parameters.size());
  for (std::size_t i = 0; i < n; ++i) {
    copy_rows(frame->rows, function.parameters[i], parent->rows, call.arguments[i], w.active);
  }
  retire(w, function.entry_pc);
  w.frame = frame;
  w.rows = frame->rows;
  // Deeper groups run first, and others may wait in this frame: pick anew.
  if (w.active != w.live) {
    w.event = Event::reschedule;
  } else if (w.slice < 0) {
    w.event = Event::poll;
  }
}

void leave_function(Warp& w, std::uint32_t mask) {
  Frame* const frame = w.frame;
  Frame* const parent = frame->parent;
  const CallSite& call = *frame->call;
  const std::size_t n = std::min(call.results.size(), frame->function->results.size());
  for (std::size_t i = 0; i < n; ++i) {
    copy_rows(parent->rows, call.results[i], frame->rows, frame->function->results[i], mask);
  }
  frame->lanes &= ~mask;
  if (mask != w.active) {
    // Only some return: they go back to the caller, the rest stay.
    w.frame = parent;
    split(w, mask, frame->return_pc);
    w.frame = frame;
  } else {
    retire(w, frame->return_pc);
    w.frame = parent;
    w.rows = parent->rows;
    if (w.active != w.live) w.event = Event::reschedule;
  }
  if (frame->lanes != 0) return;
  for (Frame** f = &parent->first_child; *f != nullptr; f = &(*f)->next_sibling) {
    if (*f == frame) {
      *f = frame->next_sibling;
      break;
    }
  }
  w.spare[frame->function->index].push_back(frame);
}

}  // namespace assay::emulator
