// What one warp is while it runs: its groups of lanes, their frames, and the registers of the group
// that runs now. A warp belongs to one host thread. Handlers see it and nothing else; what they
// cannot do themselves they ask for through `event`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/emulator/anchor.h"
#include "engine/emulator/emulator.h"
#include "engine/emulator/memory.h"
#include "engine/emulator/module.h"

namespace assay::emulator {

class Block;
class LocalTrial;
class Watch;
struct AccessShape;

// Per op: how often a straight line of execution began here (less how often one ended).
struct Executed {
  std::int64_t warps = 0;
  std::int64_t threads = 0;
};

inline constexpr std::uint32_t kAllLanes = 0xFFFF'FFFF;

// Why the inner loop stops.
enum class Event : std::uint8_t {
  none,
  reschedule,  // the groups changed: pick again
  parked,      // the current group waits and was put away
  exited,      // the current group is gone
  poll,        // the time slice is used up
  fault,       // Block::fault() says what
};

// A function activation, shared by the lanes that entered it through the same call of the same
// parent.
struct Frame {
  Frame* parent = nullptr;
  const Function* function = nullptr;
  std::uint32_t return_pc = 0;
  std::uint32_t depth = 0;
  std::uint32_t lanes = 0;  // still inside
  std::uint32_t local_base = 0;
  std::uint64_t dynamic_bytes = 0;  // of local memory: alloca
  std::uint32_t id = 0;
  std::byte* rows = nullptr;
  const CallSite* call = nullptr;
  Frame* first_child = nullptr;  // live activations called from this one
  Frame* next_sibling = nullptr;
  std::unique_ptr<std::byte[]> storage{};
};

enum class GroupState : std::uint8_t { ready, at_warp_sync, at_barrier };

// Lanes that are at the same place.
struct Group {
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  Frame* frame = nullptr;
  GroupState state = GroupState::ready;
  std::uint32_t members = 0;   // at_warp_sync: lanes that must arrive
  std::uint8_t barrier = 0;    // at_barrier: which
  bool is_fence = false;       // at_warp_sync: bar.warp.sync, complete wherever its members stand
  bool goes_alone = false;     // executes what it waited at without the lanes it waited for
  std::uint64_t last_run = 0;  // when it last ran, in selections
};

// On its way to shared memory.
struct AsyncCopy {
  std::byte* to = nullptr;
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;
  std::uint32_t group = 0;
  std::array<std::byte, 16> data{};
};

struct Warp {
  // The hot part: the group that runs now.
  std::byte* rows = nullptr;
  std::uint32_t active = 0;
  std::uint32_t pc = 0;
  std::uint32_t pending_pc = kNowhere;  // leave the inner loop when pc gets here
  Event event = Event::none;
  std::uint32_t run_start = 0;  // pc since which instructions are not yet counted
  std::int64_t slice = 0;       // warp instructions left in this time slice
  Frame* frame = nullptr;
  std::uint32_t live = 0;                // lanes that have not exited
  Executed* executed = nullptr;          // when counters are wanted
  Watch* watch = nullptr;                // when there is an inspection
  LocalTrial* trial = nullptr;           // when this run is one of those
  const Handlers* originals = nullptr;   // by pc: what was replaced, when there is one
  AccessShape* const* shapes = nullptr;  // by pc: seen last, when counters are wanted
  bool recording = false;                // host_address() tells the watch
  std::uint32_t turns = 0;               // backward branches since groups last took turns
  std::uint32_t index = 0;
  const Op* code = nullptr;
  Block* block = nullptr;
  // Memory, copied here from the block because every access needs it.
  const Object* objects = nullptr;
  std::size_t object_count = 0;
  const AddressTable* table = nullptr;
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  const std::byte* parameters = nullptr;
  std::uint64_t parameter_bytes = 0;
  std::byte* local = nullptr;              // lane after lane
  std::uint64_t local_bytes = 0;           // per lane, addressable now
  std::array<std::uint16_t, 256> hints{};  // object last seen by an instruction, by pc
  std::uint32_t anchored = 0;              // anchors that hold, a bit each
  std::array<Anchor, kAnchors> anchors{};

  std::array<Group, 32> groups{};  // those that do not run now
  unsigned group_count = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint32_t next_frame_id = 0;
  std::uint64_t selections = 0;
  bool taking_turns = false;
  bool goes_alone = false;                       // likewise, of the group that runs
  bool exited_in_call = false;                   // frames are left behind
  std::vector<std::unique_ptr<Frame>> frames{};  // all ever made: live and spare
  std::vector<std::vector<Frame*>> spare{};      // by function
  std::uint64_t local_capacity = 0;              // per lane
  std::vector<AsyncCopy> copies{};               // nobody has waited for, in the order of asking
  std::array<std::uint32_t, 32> copy_groups{};   // of each lane: how many it has committed
  std::unique_ptr<std::byte[]> local_storage{};
};

[[gnu::always_inline]] inline unsigned lanes_in(std::uint32_t mask) {
  return mask == kAllLanes ? 32 : static_cast<unsigned>(__builtin_popcount(mask));
}

// Counts the straight line up to `pc` and starts a new one at `to`.
[[gnu::always_inline]] inline void retire(Warp& w, std::uint32_t to) {
  const std::uint32_t n = w.pc - w.run_start;
  w.warp_instructions += n;
  const unsigned lanes = lanes_in(w.active);
  w.thread_instructions += std::uint64_t{n} * lanes;
  w.slice -= n;
  if (w.executed != nullptr) [[unlikely]] {
    const std::int64_t threads = lanes;
    ++w.executed[w.run_start].warps;
    w.executed[w.run_start].threads += threads;
    --w.executed[w.pc].warps;
    w.executed[w.pc].threads -= threads;
  }
  w.pc = to;
  w.run_start = to;
}

[[gnu::always_inline]] inline std::uint32_t& predicate(Warp& w, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(w.rows + offset);
}

// What a lane's register of up to 8 bytes holds.
[[gnu::always_inline]] inline std::uint64_t bits_held(const Warp& w, std::uint32_t row,
                                                      unsigned lane, unsigned bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, w.rows + row + std::size_t{lane} * bytes, bytes);
  return bits;
}

// Lanes for which the guard of `op` holds; the op has one.
[[gnu::always_inline]] inline std::uint32_t guard_of(Warp& w, const Op& op) {
  const std::uint32_t p = predicate(w, op.guard & ~1U);
  return (op.guard & 1U) != 0 ? ~p : p;
}

// The current op: handlers run after pc has moved on.
[[gnu::always_inline]] inline std::uint32_t op_pc(const Warp& w, const Op& op) {
  return static_cast<std::uint32_t>(&op - w.code);
}

// --- warp.cc: groups ---
void start_warp(Warp& w, std::uint32_t lanes);
// Runs until every group waits or has exited, the slice is used up, or something faults.
void run_warp(Warp& w);
[[nodiscard]] bool has_ready_group(const Warp& w);
// Splits `mask` off the running group; it goes on at `pc`.
void split(Warp& w, std::uint32_t mask, std::uint32_t pc);
// Puts the running group away in the given state, to execute `pc` when it is released.
void park(Warp& w, Group group);
// The running group's lanes are done for good.
void exit_lanes(Warp& w, std::uint32_t mask);
// True if the warp-wide operation at `op` may execute now; else the group was parked.
// A matrix operation takes the whole warp: it faults where others would go alone. Of others
// `masks` are those that the active lanes name, `members` all of them together.
[[nodiscard]] bool gather_members(Warp& w, const Op& op, std::uint32_t members,
                                  const std::uint32_t* masks = nullptr);
// bar.warp.sync: parks the group unless all members have arrived at one.
void warp_fence(Warp& w, std::uint32_t members, const std::uint32_t* masks);

// --- frame.cc ---
// False: no room for it, and the event says so.
[[nodiscard]] bool make_entry_frame(Warp& w, const Function& entry);
void enter_function(Warp& w, const Op& op, const Function& function, const CallSite& call);
void leave_function(Warp& w, std::uint32_t mask);
// Room for `bytes` of local memory in every lane; false: the budget does not allow it.
[[nodiscard]] bool grow_local(Warp& w, std::uint64_t bytes);
void reclaim_frames(Warp& w);  // makes all but the entry's spare, between blocks
void set_block_rows(Warp& w);  // the special registers that change with the block

// --- access.cc ---
// Where the bytes of one lane's access lie on the host, or nullptr if they are not all there.
[[nodiscard]] std::byte* host_address(Warp& w, Space space, unsigned lane, std::uint64_t address,
                                      std::uint64_t bytes, bool write);

// --- fault.cc ---
struct BadAccess {
  FaultKind kind = FaultKind::out_of_bounds;
  Space space = Space::global;
  bool is_write = false;
  bool is_atomic = false;
  unsigned lane = 0;
  std::uint64_t address = 0;
  unsigned bytes = 0;
};
void fault_access(Warp& w, const Op& op, const BadAccess& bad);
// What fault_access() ends the launch with.
[[nodiscard]] Fault fault_of(Warp& w, const Op& op, const BadAccess& bad);
void fault_simple(Warp& w, const Op& op, FaultKind kind, unsigned lane, std::string message);

// --- stray_reads.cc ---
// Of a load that host_address() has nothing for: what a device has mapped there, noted as a
// finding, or nullptr.
[[nodiscard]] std::byte* stray_read(Warp& w, const Op& op, const BadAccess& bad);

}  // namespace assay::emulator
