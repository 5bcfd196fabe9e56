#include "engine/emulator/block.h"

#include <algorithm>
#include <utility>

#include "engine/emulator/garbage.h"
#include "engine/emulator/local_trial.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

// Well under a millisecond of simple instructions, a few of the slowest.
constexpr std::int64_t kWarpSlice = 8192;
constexpr std::uint64_t kPollInterval = 4096;

}  // namespace

Block::Block(LaunchState& launch) : launch_(launch) {
  const Dim3& b = launch.launch.block;
  threads_ = b.x * b.y * b.z;
}

Block::~Block() = default;

bool Block::prepare() {
  const std::size_t warps = (threads_ + 31) / 32;
  const std::size_t shared = (launch_.shared_bytes + 63) & ~std::size_t{63};
  if (!launch_.reserve_memory(shared + warps * sizeof(Warp))) {
    launch_.end(Ending::out_of_memory, "Shared memory exceeds the memory budget", {});
    return false;
  }
  shared_ = std::make_unique<std::byte[]>(shared + kSharedSlack);
  for (std::size_t i = 0; i < warps; ++i) {
    auto w = std::make_unique<Warp>();
    w->index = static_cast<std::uint32_t>(i);
    w->code = launch_.text.code.data();
    if (launch_.watch != nullptr) launch_.watch->attach(*w);
    w->trial = launch_.trial;
    w->block = this;
    w->table = &launch_.memory;
    w->objects = launch_.memory.objects().data();
    w->object_count = launch_.memory.objects().size();
    w->shared = shared_.get();
    w->shared_bytes = launch_.shared_bytes;
    w->parameters = launch_.launch.parameters.data();
    w->parameter_bytes = launch_.launch.parameters.size();
    if (!make_entry_frame(*w, *launch_.entry)) {
      launch_.end(Ending::out_of_memory, "Registers and local memory exceed the memory budget", {});
      return false;
    }
    warps_.push_back(std::move(w));
  }
  for (Barrier& b : barriers_) b.lanes.resize(warps);
  return true;
}

std::uint32_t Block::garbage() const {
  const Dim3& grid = launch_.launch.grid;
  const std::uint64_t row = index_.y + std::uint64_t{grid.y} * index_.z;
  return garbage_word(launch_.number, index_.x + grid.x * row);
}

void Block::start(Dim3 index, std::uint32_t smid) {
  index_ = index;
  smid_ = smid;
  ran_ = 0;
  live_ = threads_;
  if (launch_.watch != nullptr) {
    watch_state_ = launch_.watch->block_watch(index);
    for (const auto& w : warps_) w->code = launch_.watch->code_of(watch_state_.get());
  }
  if (launch_.trial != nullptr) {
    const Op* const plain = launch_.text.code.data();
    for (const auto& w : warps_) {
      w->code = launch_.trial->code_of(index, launch_.launch.grid, plain);
    }
  }
  bulk_copies_.clear();
  waits_.restart();
  leaving_ = launch_.launch.to_the_barrier ? 0 : ~0U;
  fill_with_garbage(shared_.get(), launch_.shared_bytes, garbage());
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const std::uint32_t n =
        std::min<std::uint32_t>(threads_ - static_cast<std::uint32_t>(i) * 32, 32);
    start_warp(*warps_[i], n == 32 ? kAllLanes : (1U << n) - 1);
  }
}

bool Block::run(std::int64_t warp_instructions) {
  while (!launch_.ended()) {
    if (waits_.are_long() && all_wait_in_vain()) return true;
    bool progress = false;
    for (std::size_t n = 0; n < warps_.size(); ++n) {
      Warp& w = *warps_[n];
      if (w.live == 0 || !has_ready_group(w)) continue;
      progress = true;
      const bool is_leaving = (leaving_ >> n & 1U) != 0;
      leaving_ &= ~(1U << n);
      slice_ = is_leaving ? kFirstSlice : kWarpSlice;
      w.slice = slice_;
      const std::uint64_t before = w.warp_instructions;
      run_warp(w);
      const std::uint64_t ran = w.warp_instructions - before;
      // Waiting takes more of the slice than its instructions do.
      warp_instructions -= std::max(static_cast<std::int64_t>(ran), slice_ - w.slice);
      unpolled_warp_instructions_ += ran;
      ran_ += ran;
      pc_ = w.pc;
      unpolled_thread_instructions_ += w.thread_instructions;
      w.thread_instructions = 0;
      if (w.event == Event::fault) return true;
      if (unpolled_warp_instructions_ > kPollInterval) poll(come_to());
      if (launch_.ended()) return true;
    }
    if (live_ == 0) {
      pc_ = kNowhere;
      launch_.block_done(come_to());
      return true;
    }
    if (!progress) {
      stuck();
      return true;
    }
    if (warp_instructions < 0) return false;
  }
  return true;
}

void Block::over() {
  if (watch_state_) launch_.watch->block_over(*watch_state_);
}

void Block::poll(const BlockProgress& at) {
  launch_.poll(unpolled_warp_instructions_, unpolled_thread_instructions_, at);
  unpolled_warp_instructions_ = 0;
  unpolled_thread_instructions_ = 0;
}

Dim3 Block::thread(const Warp& w, unsigned lane) const {
  const Dim3& b = launch_.launch.block;
  const std::uint32_t t = w.index * 32 + lane;
  return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}

std::uint64_t Block::special(const Warp& w, Special special, unsigned lane) const {
  const Dim3& ntid = launch_.launch.block;
  const Dim3& nctaid = launch_.launch.grid;
  switch (special) {
    case Special::tid_x:
      return thread(w, lane).x;
    case Special::tid_y:
      return thread(w, lane).y;
    case Special::tid_z:
      return thread(w, lane).z;
    case Special::ntid_x:
      return ntid.x;
    case Special::ntid_y:
      return ntid.y;
    case Special::ntid_z:
      return ntid.z;
    case Special::ctaid_x:
      return index_.x;
    case Special::ctaid_y:
      return index_.y;
    case Special::ctaid_z:
      return index_.z;
    case Special::nctaid_x:
      return nctaid.x;
    case Special::nctaid_y:
      return nctaid.y;
    case Special::nctaid_z:
      return nctaid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return w.index;
    case Special::nwarpid:
      return limits().resident_warps;
    case Special::smid:
      return smid_;
    case Special::nsmid:
      return limits().multiprocessors;
    case Special::gridid:
      return 1;
    case Special::lanemask_eq:
      return 1U << lane;
    case Special::lanemask_le:
      return (2U << lane) - 1U;
    case Special::lanemask_lt:
      return (1U << lane) - 1U;
    case Special::lanemask_ge:
      return ~((1U << lane) - 1U);
    case Special::lanemask_gt:
      return ~((2U << lane) - 1U);
    case Special::dynamic_smem_size:
      return launch_.launch.dynamic_shared_bytes;
    case Special::total_smem_size:
      return launch_.device_shared_bytes();
    case Special::reserved_begin:
      return launch_.reserved_offset();
    case Special::reserved_end:
      return launch_.reserved_offset() + LaunchState::kReservedBytes;
    case Special::reserved_bytes:
      return LaunchState::kReservedBytes;
    case Special::zero:
      return 0;
    case Special::one:
      return 1;
    case Special::three:
      return 3;
    case Special::grid_workspace_high:
      return kGridWorkspace >> 32;
    case Special::grid_workspace_low:
      return kGridWorkspace & 0xFFFF'FFFFU;
  }
  return 0;
}

std::uint64_t Block::constant(const ConstantRow& row) const {
  if (row.shared_variable < 0) return row.bits;
  const auto it = launch_.shared.offsets.find(static_cast<std::uint32_t>(row.shared_variable));
  return row.bits + (it == launch_.shared.offsets.end() ? 0 : it->second);
}

void Block::out_of_memory(Warp& w) {
  w.event = Event::fault;
  launch_.end(Ending::out_of_memory, "Registers and local memory exceed the memory budget", {});
}

void Block::fault(Warp& w, Fault fault) {
  w.event = Event::fault;
  std::string message = fault.message;
  launch_.end(Ending::faulted, std::move(message), std::move(fault));
}

}  // namespace assay::emulator
