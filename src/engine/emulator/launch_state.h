// What all threads of one launch share. The first verdict wins; everything else is read-only or
// atomic.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/emulator/emulator.h"
#include "engine/emulator/heap.h"
#include "engine/emulator/memory.h"
#include "engine/emulator/module.h"
#include "engine/emulator/texture_sampling.h"

namespace assay::emulator {

class LocalTrial;
class Watch;

// How far a block has come.
struct BlockProgress {
  Dim3 block{0, 0, 0};
  std::uint64_t warp_instructions = 0;
  std::uint32_t pc = kNowhere;  // where it stands; kNowhere: it has ended
};

class LaunchState {
 public:
  LaunchState(const Module::Text& module, const Launch& wanted, const Budget& limits,
              const std::stop_token& stop_token)
      : text(module), launch(wanted), budget(limits), stop(stop_token) {}

  const Module::Text& text;
  const Launch& launch;
  const Budget& budget;
  const std::stop_token& stop;
  // On a device the system's part of shared memory; cooperative groups keep what their groups of
  // several warps share in it. Here it lies behind the user's.
  static constexpr std::size_t kReservedBytes = 1024;
  [[nodiscard]] std::size_t reserved_offset() const { return (user_shared_bytes + 15) / 16 * 16; }

  const Function* entry = nullptr;
  SharedLayout shared{};
  std::size_t user_shared_bytes = 0;
  // Without the room between variables, which a device has not.
  [[nodiscard]] std::size_t device_shared_bytes() const {
    return user_shared_bytes - shared.room_bytes;
  }
  std::size_t shared_bytes = 0;  // with what is reserved, if the module asks for it
  std::uint64_t number = 0;      // of this launch on its device
  AddressTable memory{};
  std::span<const std::byte> variables{};  // of the module, from kGlobalsBase on
  Watch* watch = nullptr;                  // if there is an inspection
  LocalTrial* trial = nullptr;  // if this run is one of a search for uninitialised locals
  Heap* heap = nullptr;         // there if the module calls malloc
  std::vector<BoundTexture> textures{};
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_relaxed); }
  // Only the first call counts.
  void end(Ending ending, std::string message, Fault fault);
  // Accounts for a time slice; ends the launch if a budget is used up or a stop is asked for.
  // `at`: the block whose slice it was.
  void poll(std::uint64_t warp_instructions, std::uint64_t thread_instructions,
            const BlockProgress& at);
  [[nodiscard]] std::uint64_t grid_blocks() const {
    return std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  }
  void block_done(const BlockProgress& of);
  // Others go on before it does.
  void set_aside(const BlockProgress& of);
  bool reserve_memory(std::size_t bytes);
  // Half of what the budget allows is left.
  [[nodiscard]] bool has_room() const {
    return budget.memory_bytes == 0 || memory_bytes_.load() < budget.memory_bytes / 2;
  }
  // Of a handle that this launch gave out, or nullptr.
  [[nodiscard]] const BoundTexture* texture(std::uint64_t handle) const {
    const std::uint64_t i = (handle - kTextureHandles) / kTextureHandleStep;
    const bool is_one = i < textures.size() && handle == kTextureHandles + i * kTextureHandleStep;
    return is_one ? &textures[i] : nullptr;
  }
  void print(std::string_view text);
  // A load out of bounds; of the same instruction only the first is described.
  void note_stray(std::uint32_t pc, const std::function<Fault()>& describe);  // stray_reads.cc
  // Moves the results out; call when no thread runs any more.
  [[nodiscard]] Outcome outcome();

 private:
  void end_at(Ending ending, std::string message, std::uint32_t pc, Dim3 block);
  void end_by_budget(Ending ending, const std::string& message, const BlockProgress& at);
  // The block that has run for longest among those that have not ended.
  [[nodiscard]] BlockProgress longest(const BlockProgress& at);

  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> warp_instructions_{0};
  std::atomic<std::uint64_t> thread_instructions_{0};
  std::atomic<std::uint64_t> blocks_{0};
  std::atomic<std::uint64_t> ran_in_ended_{0};  // warp instructions of blocks that have ended
  std::atomic<bool> any_aside_{false};          // a block was set aside, so longest_ may be one
  std::atomic<std::size_t> memory_bytes_{0};
  std::mutex mutex_;
  Outcome outcome_{};
  BlockProgress longest_{};  // of those that were set aside and have not ended
  std::unordered_map<std::uint32_t, std::size_t> strays_{};  // findings by pc
};

}  // namespace assay::emulator
