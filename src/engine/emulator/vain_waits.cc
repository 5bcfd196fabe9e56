#include "engine/emulator/vain_waits.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/mbarrier_ops.h"

namespace assay::emulator {
namespace {

constexpr std::uint32_t kMostOps = 256;
constexpr std::size_t kMostStretches = 64;
constexpr std::size_t kAlignment = 64;

std::string_view opcode_in(std::string_view instruction) {
  if (instruction.starts_with('@')) {
    instruction.remove_prefix(std::min(instruction.find_first_of(" \t"), instruction.size()));
    instruction.remove_prefix(std::min(instruction.find_first_not_of(" \t"), instruction.size()));
  }
  return instruction.substr(0, instruction.find_first_of(" \t;"));
}

// Its result goes to Op::d and Op::e, and it does nothing else.
bool is_pure(std::string_view opcode) {
  static constexpr std::string_view kPure[] = {
      "mov",  "cvt",  "cvta", "add",  "sub", "mul", "mad",  "min",  "max",      "neg",
      "abs",  "and",  "or",   "xor",  "not", "shl", "shr",  "lop3", "shf",      "set",
      "setp", "selp", "slct", "prmt", "bfe", "bfi", "popc", "clz",  "nanosleep"};
  if (opcode.find(".cc") != std::string_view::npos) return false;  // the carry goes elsewhere
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  return std::find(std::begin(kPure), std::end(kPure), base) != std::end(kPure);
}

bool is_test(std::string_view opcode) {
  return opcode.starts_with("mbarrier.test_wait") || opcode.starts_with("mbarrier.try_wait");
}

bool reads_time(std::string_view instruction) {
  return instruction.find("%clock") != std::string_view::npos ||
         instruction.find("%globaltimer") != std::string_view::npos;
}

// Gives a warp a copy of a group's registers to work on, for a while.
class OnACopy {
 public:
  OnACopy(Warp& w, const Group& group)
      : w_(w),
        rows_(w.rows),
        frame_(w.frame),
        active_(w.active),
        turns_(w.turns),
        slice_(w.slice),
        recording_(std::exchange(w.recording, false)),
        before_(group.frame->function->frame_bytes),
        copy_(before_.size() + kAlignment) {
    const auto at = reinterpret_cast<std::uintptr_t>(copy_.data());
    w.rows = copy_.data() + (kAlignment - at % kAlignment) % kAlignment;
    w.frame = group.frame;
    w.active = group.mask;
    std::memcpy(before_.data(), group.frame->rows, before_.size());
    std::memcpy(w.rows, before_.data(), before_.size());
  }
  ~OnACopy() {
    w_.rows = rows_;
    w_.frame = frame_;
    w_.active = active_;
    w_.turns = turns_;
    w_.slice = slice_;
    w_.recording = recording_;
  }
  OnACopy(const OnACopy&) = delete;
  OnACopy& operator=(const OnACopy&) = delete;
  // Has a register changed since this was asked last?
  bool has_changed() {
    if (std::memcmp(w_.rows, before_.data(), before_.size()) == 0) return false;
    std::memcpy(before_.data(), w_.rows, before_.size());
    return true;
  }

 private:
  Warp& w_;
  std::byte* rows_;
  Frame* frame_;
  std::uint32_t active_;
  std::uint32_t turns_;
  std::int64_t slice_;
  bool recording_;
  std::vector<std::byte> before_;
  std::vector<std::byte> copy_;
};

// All that a group may execute from where it is while mbarriers stay as they are: stretches of code
// from where it is, or from where a branch leads, to the next branch. A register is steady if it
// has the same value whenever a stretch begins. What is made of steady ones is known, as is what a
// test of an mbarrier finds by them, and a branch by it goes one way; others go both.
class WaitLoop {
  using Rows = std::unordered_set<std::uint32_t>;

 public:
  WaitLoop(Warp& w, const Group& group)
      : w_(w), group_(group), text_(w.block->launch().text), begins_{group.pc} {}

  std::optional<VainWait> find() {
    // What turns out not to be steady may open more ways.
    for (bool more = true; more;) {
      const std::size_t known = begins_.size() + unsteady_.size();
      wait_.reset();
      for (std::size_t i = 0; i < begins_.size(); ++i) {
        if (begins_.size() > kMostStretches || !follow(begins_[i])) return std::nullopt;
      }
      more = begins_.size() + unsteady_.size() != known;
    }
    return wait_;
  }

 private:
  void go(std::uint32_t pc) {
    if (std::find(begins_.begin(), begins_.end(), pc) == begins_.end()) begins_.push_back(pc);
  }

  // Op::e of an address that is made wide is no row.
  static std::uint32_t row_e(const Op& op) {
    return op.full == &op_window_add || op.full == &op_window_subtract ? kNowhere : op.e;
  }
  static bool is_branch(const Op& op) { return op.full == &op_branch || op.full == &op_branch_if; }

  // False: it does something that may help others, or leads out of the loop.
  bool follow(std::uint32_t begin) {
    OnACopy registers(w_, group_);
    Rows unknown = unsteady_;
    const auto end = static_cast<std::uint32_t>(text_.code.size());
    for (std::uint32_t pc = begin; pc < std::min(end, begin + kMostOps); ++pc) {
      const Op& op = text_.code[pc];
      const std::uint32_t guard = op.guard == kNowhere ? kNowhere : op.guard & ~1U;
      bool known = !unknown.contains(guard);
      if (is_branch(op)) return choose(op, pc, known);
      if (op.full == &op_checkpoint) continue;
      const std::string instruction = text_.instruction_at(pc);
      for (const std::uint32_t row : {op.a, op.b, op.c, row_e(op)}) {
        known = known && !unknown.contains(row);
      }
      if (guard != kNowhere) known = known && !unknown.contains(op.d);
      if (op.full == &op_mbarrier_test) {
        if (!test(op, pc, known)) return false;
      } else {
        // A test comes with what makes its address wide.
        const std::string_view opcode = opcode_in(instruction);
        if (!is_pure(opcode) && !(is_test(opcode) && op.full != &op_guarded)) return false;
        known = known && !reads_time(instruction);
        op.masked(w_, op);
      }
      const bool changes = registers.has_changed();
      for (const std::uint32_t row : {op.d, row_e(op)}) {
        if (row == kNowhere) continue;
        if (!known || changes) unsteady_.insert(row);
        if (known) {
          unknown.erase(row);
        } else {
          unknown.insert(row);
        }
      }
    }
    return false;
  }

  bool test(const Op& op, std::uint32_t pc, bool known) {
    std::uint32_t done = 0;
    for (std::uint32_t m = known ? group_.mask : 0; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const std::byte* const barrier = tested_barrier(w_, op, k);
      // One in global memory may be another block's as well.
      if (barrier < w_.shared || barrier >= w_.shared + w_.shared_bytes) return false;
      const auto& copies = w_.block->bulk_copies();
      const bool expects_copies = std::any_of(
          copies.begin(), copies.end(), [&](const auto& copy) { return copy.barrier == barrier; });
      if (expects_copies) return false;  // they arrive when the test is executed
      const bool over = phase_is_over(w_, op, k, barrier);
      done |= static_cast<std::uint32_t>(over) << k;
      if (!over && !wait_) wait_ = {.pc = pc, .lane = k, .barrier = barrier};
    }
    std::uint32_t& result = predicate(w_, op.d);
    result = (result & ~group_.mask) | done;
    return true;
  }

  bool choose(const Op& branch, std::uint32_t pc, bool known) {
    const bool always = branch.full == &op_branch;
    const std::uint32_t taken = always ? group_.mask : group_.mask & guard_of(w_, branch);
    if (known && taken != 0 && taken != group_.mask) return false;
    if (!known || taken != 0) go(branch.target);
    if (!known || taken == 0) go(pc + 1);
    return true;
  }

  Warp& w_;
  const Group& group_;
  const Module::Text& text_;
  std::vector<std::uint32_t> begins_;
  Rows unsteady_{};
  std::optional<VainWait> wait_{};
};

}  // namespace

std::optional<VainWait> vain_wait(Warp& w, const Group& group) { return WaitLoop(w, group).find(); }

}  // namespace assay::emulator
