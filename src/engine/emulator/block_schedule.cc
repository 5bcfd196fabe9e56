#include "engine/emulator/block_schedule.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "engine/emulator/block.h"

namespace assay::emulator {
namespace {

// A block that does not finish in this many warp instructions makes room for the next one, as
// blocks on a device run side by side and may wait for one another.
constexpr std::int64_t kBlockSlice = 1 << 22;
constexpr std::size_t kResidentAnyway = 264;  // over all threads; beyond, where memory is left
// What the blocks of one multiprocessor share (CUDA C++ Programming Guide, compute capability 9.0).
constexpr std::size_t kBlocksEach = 32;
constexpr std::size_t kThreadsEach = std::size_t{limits().resident_warps} * 32;
constexpr std::size_t kSharedBytesEach = 228U << 10;
constexpr std::size_t kSharedBytesKept = 1U << 10;  // of each block, by the system

// Hands out block numbers and turns them into indices.
class BlockQueue {
 public:
  explicit BlockQueue(Dim3 grid) : grid_(grid), total_(std::uint64_t{grid.x} * grid.y * grid.z) {}
  bool next(Dim3& index, std::uint64_t& number) {
    number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= total_) return false;
    index.x = static_cast<std::uint32_t>(number % grid_.x);
    index.y = static_cast<std::uint32_t>(number / grid_.x % grid_.y);
    index.z = static_cast<std::uint32_t>(number / grid_.x / grid_.y);
    return true;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  Dim3 grid_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> next_{0};
};

// Blocks of one host thread that have begun and are not finished: those behind them may be what
// they wait for.
struct Residents {
  std::size_t anyway = 1;
  std::size_t most = 1;  // as many as a device has at once
  [[nodiscard]] bool allow(std::size_t count, const LaunchState& launch) const {
    return count < anyway || (count < most && launch.has_room());
  }
};

// Registers are not known: they are the assembler's.
std::size_t resident_on_device(const LaunchState& launch) {
  const Dim3& b = launch.launch.block;
  const std::size_t threads = (std::size_t{b.x} * b.y * b.z + 31) / 32 * 32;
  const std::size_t each =
      std::min({kBlocksEach, kThreadsEach / threads,
                kSharedBytesEach / (launch.device_shared_bytes() + kSharedBytesKept)});
  return limits().multiprocessors * std::max<std::size_t>(each, 1);
}

// One host thread's share: runs blocks one after another; a block that takes long is set aside
// while others begin.
void run_blocks(LaunchState& launch, BlockQueue& queue, const Residents& limit) {
  std::deque<std::unique_ptr<Block>> resident;  // begun, not finished
  std::unique_ptr<Block> spare;
  bool more = true;
  while (!launch.ended()) {
    std::unique_ptr<Block> block;
    Dim3 index;
    std::uint64_t number = 0;
    const bool begins = more && limit.allow(resident.size(), launch);
    if (begins) more = queue.next(index, number);
    if (begins && more) {
      block = spare ? std::move(spare) : std::make_unique<Block>(launch);
      if (block->fresh() && !block->prepare()) return;
      block->start(index, static_cast<std::uint32_t>(number % limits().multiprocessors));
    } else if (!resident.empty()) {
      block = std::move(resident.front());
      resident.pop_front();
    } else {
      break;
    }
    if (block->run(kBlockSlice)) {
      block->poll(block->come_to());
      block->over();
      spare = std::move(block);
    } else {
      launch.set_aside(block->come_to());
      resident.push_back(std::move(block));
    }
  }
  for (const auto& block : resident) block->over();
}

// Memory that the budget allows but the machine lacks is the launch's end, not ours.
void run_share(LaunchState& launch, BlockQueue& queue, const Residents& limit) {
  try {
    run_blocks(launch, queue, limit);
  } catch (const std::bad_alloc&) {
    launch.end(Ending::out_of_memory, "No memory for registers, local or shared memory", {});
  }
}

}  // namespace

std::string refuse_cooperative(const LaunchState& state) {
  const Dim3& g = state.launch.grid;
  const std::uint64_t blocks = std::uint64_t{g.x} * g.y * g.z;
  const std::size_t resident = resident_on_device(state);
  if (!state.launch.cooperative || blocks <= resident) return {};
  return "Too many blocks for a cooperative launch (cudaErrorCooperativeLaunchTooLarge): they wait "
         "for one another, and " +
         std::to_string(blocks) + " of them are more than the " + std::to_string(resident) +
         " that a device has at once";
}

void run_threads(LaunchState& launch, Dim3 grid, unsigned wanted) {
  BlockQueue queue(grid);
  unsigned threads = wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, queue.total()));
  const Residents resident{
      .anyway = std::max<std::size_t>(1, kResidentAnyway / threads),
      .most = std::max<std::size_t>(1, (resident_on_device(launch) + threads - 1) / threads)};
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back([&] { run_share(launch, queue, resident); });
  }
  run_share(launch, queue, resident);
}

}  // namespace assay::emulator
