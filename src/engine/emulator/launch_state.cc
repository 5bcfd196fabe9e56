#include "engine/emulator/launch_state.h"

#include <utility>

namespace assay::emulator {

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
    message += " at " + fault.where.file + ":" + std::to_string(fault.where.line);
  }
  end(ending, std::move(message), std::move(fault));
}

void LaunchState::poll(std::uint64_t warp_instructions, std::uint64_t thread_instructions,
                       std::uint32_t pc, Dim3 block) {
  warp_instructions_.fetch_add(warp_instructions, std::memory_order_relaxed);
  const std::uint64_t total =
      thread_instructions_.fetch_add(thread_instructions, std::memory_order_relaxed) +
      thread_instructions;
  if (ended()) return;
  (void)is_progressing();
  if (stop.stop_requested()) {
    end_at(Ending::stopped, "Stopped", pc, block);
  } else if (budget.thread_instructions != 0 && total > budget.thread_instructions) {
    end_by_budget(Ending::budget_instructions,
                  "More than " + std::to_string(budget.thread_instructions) +
                      " thread instructions; still running",
                  pc, block);
  } else if (budget.wall.count() != 0 && std::chrono::steady_clock::now() - started > budget.wall) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(budget.wall).count();
    end_by_budget(Ending::budget_wall,
                  "Longer than " + std::to_string(ms) + " ms on this processor; still running", pc,
                  block);
  }
}

// Blocks that end one after another until the last tenth of the time: what is endless then is the
// grid.
bool LaunchState::is_progressing() {
  const std::int64_t now = (std::chrono::steady_clock::now() - started).count();
  const std::uint64_t done = blocks_.load(std::memory_order_relaxed);
  if (seen_blocks_.exchange(done, std::memory_order_relaxed) != done) {
    progress_ns_.store(now, std::memory_order_relaxed);
  }
  return done != 0 && now - progress_ns_.load(std::memory_order_relaxed) < now / 10;
}

void LaunchState::end_by_budget(Ending ending, const std::string& message, std::uint32_t pc,
                                Dim3 block) {
  if (!is_progressing()) return end_at(ending, message, pc, block);
  const std::uint64_t done = blocks_.load(std::memory_order_relaxed);
  end(ending,
      message + " when " + std::to_string(done) + " of " + std::to_string(grid_blocks()) +
          " blocks had ended",
      {});
  const std::lock_guard lock(mutex_);
  outcome_.was_progressing = outcome_.ending == ending;
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
