#include "engine/emulator/launch_state.h"

#include <utility>

namespace assay::emulator {
namespace {

constexpr std::uint64_t kMuchLonger = 2;  // times as long as others took

bool is_same(const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace

void LaunchState::end(Ending ending, std::string message, Fault fault) {
  const std::lock_guard lock(mutex_);
  if (outcome_.ending != Ending::completed) return;
  outcome_.ending = ending;
  outcome_.message = std::move(message);
  outcome_.fault = std::move(fault);
  ended_.store(true, std::memory_order_relaxed);
}

void LaunchState::end_at(Ending ending, std::string message, std::uint32_t pc, Dim3 block) {
  Fault fault;
  fault.instruction = text.instruction_at(pc);
  fault.where = text.where_pc(pc);
  fault.block = block;
  if (fault.where.line > 0) {
    // NVRTC puts its working folder before the name it was given.
    const std::string file = fault.where.file.substr(fault.where.file.find_last_of('/') + 1);
    message += " at " + file + ":" + std::to_string(fault.where.line);
  }
  end(ending, std::move(message), std::move(fault));
}

void LaunchState::poll(std::uint64_t warp_instructions, std::uint64_t thread_instructions,
                       const BlockProgress& at) {
  warp_instructions_.fetch_add(warp_instructions, std::memory_order_relaxed);
  const std::uint64_t total =
      thread_instructions_.fetch_add(thread_instructions, std::memory_order_relaxed) +
      thread_instructions;
  if (ended()) return;
  if (stop.stop_requested()) {
    if (at.pc == kNowhere) return end(Ending::stopped, "Stopped", {});
    end_at(Ending::stopped, "Stopped", at.pc, at.block);
  } else if (budget.thread_instructions != 0 && total > budget.thread_instructions) {
    end_by_budget(Ending::budget_instructions,
                  "More than " + std::to_string(budget.thread_instructions) +
                      " thread instructions; still running",
                  at);
  } else if (budget.wall.count() != 0 && std::chrono::steady_clock::now() - started > budget.wall) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(budget.wall).count();
    end_by_budget(Ending::budget_wall,
                  "Longer than " + std::to_string(ms) + " ms on this processor; still running", at);
  }
}

void LaunchState::block_done(const BlockProgress& of) {
  blocks_.fetch_add(1, std::memory_order_relaxed);
  ran_in_ended_.fetch_add(of.warp_instructions, std::memory_order_relaxed);
  if (!any_aside_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (is_same(longest_.block, of.block)) longest_ = {};
}

void LaunchState::set_aside(const BlockProgress& of) {
  any_aside_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (of.warp_instructions > longest_.warp_instructions) longest_ = of;
}

BlockProgress LaunchState::longest(const BlockProgress& at) {
  const std::lock_guard lock(mutex_);
  const bool is_at = at.pc != kNowhere && at.warp_instructions >= longest_.warp_instructions;
  return is_at ? at : longest_;
}

// Where none has ended, one that goes round is to blame, most likely; where others have, and in
// much less, too. Else there are too many of them.
void LaunchState::end_by_budget(Ending ending, const std::string& message,
                                const BlockProgress& at) {
  const std::uint64_t done = blocks_.load(std::memory_order_relaxed);
  const BlockProgress slow = longest(at);
  const std::uint64_t mean =
      done == 0 ? 0 : ran_in_ended_.load(std::memory_order_relaxed) / done + 1;
  const bool is_to_blame =
      slow.pc != kNowhere && (done == 0 || slow.warp_instructions / kMuchLonger >= mean);
  const std::string count = " when " + std::to_string(done) + " of " +
                            std::to_string(grid_blocks()) + " blocks had ended";
  if (is_to_blame) {
    end_at(ending, message + count, slow.pc, slow.block);
  } else {
    end(ending, message + count, {});
  }
  const std::lock_guard lock(mutex_);
  if (outcome_.ending != ending) return;
  outcome_.was_progressing = !is_to_blame;
  outcome_.times_as_long = is_to_blame && done != 0 ? slow.warp_instructions / mean : 0;
}

bool LaunchState::reserve_memory(std::size_t bytes) {
  const std::size_t total = memory_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  return budget.memory_bytes == 0 || total <= budget.memory_bytes;
}

void LaunchState::print(std::string_view text_out) {
  const std::lock_guard lock(mutex_);
  const std::size_t room =
      budget.printf_bytes - std::min(budget.printf_bytes, outcome_.printf_output.size());
  if (text_out.size() > room) outcome_.printf_truncated = true;
  outcome_.printf_output.append(text_out.substr(0, room));
}

Outcome LaunchState::outcome() {
  outcome_.counters.warp_instructions = warp_instructions_.load();
  outcome_.counters.thread_instructions = thread_instructions_.load();
  outcome_.counters.blocks = blocks_.load();
  outcome_.grid_blocks = grid_blocks();
  outcome_.wall = std::chrono::steady_clock::now() - started;
  return std::move(outcome_);
}

}  // namespace assay::emulator
