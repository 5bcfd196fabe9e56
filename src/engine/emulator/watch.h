// The inspection of one launch. Its code is the module's with the handlers of what is looked at
// replaced by one that looks first and then calls the original, so that a launch without an
// inspection pays nothing. One thread runs all blocks of an inspected launch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/emulator/block_sample.h"
#include "engine/emulator/byte_set.h"
#include "engine/emulator/exact_values.h"
#include "engine/emulator/lane_addresses.h"
#include "engine/emulator/launch_state.h"
#include "engine/emulator/shadow.h"
#include "engine/emulator/traffic.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

// Lanes of a warp that came to a barrier without the rest of it. A scheduler of groups may let them
// come one after another; only those who never come are missing.
struct PartialArrival {
  Warp* warp = nullptr;
  std::uint32_t pc = 0;
  unsigned barrier = 0;
  std::uint32_t first = 0;  // the lanes that came first, of those that lived then
  std::uint32_t live = 0;
  std::uint32_t lanes = 0;  // all that came
};

// What a watch keeps per block, from its start to its end.
struct BlockWatch {
  BlockWatch(std::uint32_t number, unsigned threads, std::size_t shared_bytes)
      : clocks(number, threads), shared(shared_bytes), written(shared_bytes) {}
  BlockClocks clocks;
  RaceShadow shared;
  ByteSet written;
  ByteSet copied{};         // targets of copies that are under way; made for the first one
  bool copies = false;      // there was one
  std::uint32_t began = 0;  // when it first touched memory
  std::vector<PartialArrival> partial{};
  ExactValues exact{};
};

struct MemoryTouch {
  Space space = Space::generic;
  unsigned lane = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool write = false;
  bool atomic = false;
  bool is_volatile = false;
};

// Where a touch is: an offset in shared memory, or an address and the object that holds it.
struct MemoryPlace {
  Space space = Space::global;
  std::uint64_t offset = 0;
  std::int32_t object = -1;
};

struct BarrierMeeting {
  unsigned barrier = 0;
  std::uint32_t exited = 0;    // threads of the block that have returned, when it is over
  bool whole_block = false;    // no count was given
  std::uint32_t first_pc = 0;  // where the first of those who wait stands
};

[[nodiscard]] std::string plain_name(std::string_view mangled);  // of a variable
[[nodiscard]] std::string text_of(Dim3 d);
// Names the variable that an offset in shared memory lies in.
void name_shared(Finding& f, const LaunchState& launch, std::uint64_t offset);
[[nodiscard]] std::string element_text(const Finding& f);  // element 3 of 'x'

class Watch {
 public:
  Watch(LaunchState& launch, std::span<const Buffer> buffers);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // What a block that starts is to run, and its watch, which lives as long as the block runs;
  // nullptr if it is not among those that are checked.
  [[nodiscard]] const Op* code_of(const BlockWatch* block) const;
  [[nodiscard]] std::unique_ptr<BlockWatch> block_watch(Dim3 index) const;
  void attach(Warp& w);

  // --- what happens, told by those who do it ---
  void before(Warp& w, const Op& op);
  void after(Warp& w, const Op& op);
  void count(Warp& w, const Op& op);
  void touch(Warp& w, const MemoryTouch& touch);
  void warp_synchronised(Warp& w, std::uint32_t lanes);
  void fence(Warp& w);
  // An asynchronous copy to these bytes of shared memory is under way, which the instruction at
  // hand asked for.
  void copy_begins(Warp& w, std::uint64_t offset, std::uint64_t bytes);
  // Copies that the threads of this warp have waited for are there: written now, and not when they
  // were asked for.
  void copies_arrive(Warp& w, std::span<const AsyncCopy> copies);
  // What reports to an mbarrier is there, and whoever asks that after this lane of `w` sees it.
  void bulk_copy_arrives(Warp& w, unsigned lane, std::uint64_t offset, std::uint64_t bytes);
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void diverged(std::uint32_t pc) { ++divergent_[pc]; }
  void barrier_arrival(Warp& w, const Op& op, const BarrierMeeting& meeting);
  void barrier_leave(Warp& w, const Group& group, const BarrierMeeting& meeting);
  void barrier_done(BlockWatch& block, unsigned barrier);
  // The block ended, or is not going on.
  void block_over(BlockWatch& block);
  void inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from);
  void excluded_caller(Warp& w, const Op& op, unsigned lane);
  void partial_mask(Warp& w, const Op& op, std::uint32_t missing);

  // Moves what was found into the outcome.
  void finish(Outcome& outcome);

 private:
  // What a finding is about; of equal ones only the first is described.
  struct Place {
    FindingKind kind = FindingKind::shared_race;
    std::uint32_t pc = 0;
    unsigned lane = 0;
    std::uint32_t other_pc = 0;
  };
  // The store whose lanes are being looked at.
  struct StoreAtHand {
    bool is_store = false;
    std::array<std::uint32_t, 4> rows{};
    unsigned row_bytes = 0;
    unsigned element_bytes = 0;
    unsigned elements = 0;
  };
  // Replaces the handlers of what is looked at.
  void find_swap_seeds();
  void watch_ops(std::vector<Op>& code, bool checks);
  // --- watch_memory.cc ---
  void access(Warp& w, const Op& op, const WatchedSite& site);
  void touch_lanes(Warp& w, const WatchedSite& site, std::uint32_t lanes);
  // The eights of lanes, a bit each, that another one of a load does again: of equal reads the last
  // is remembered.
  [[nodiscard]] unsigned repeated_eights(const WatchedSite& site, std::uint32_t active) const;
  // An access by whole eights of lanes.
  struct Eights {
    unsigned bytes = 0;  // of a lane
    bool write = false;
    Space space = Space::generic;
    std::int32_t object = -1;  // where the one before was
    std::uint32_t block = 0;
    RaceShadow* shadow = nullptr;  // once it is known where it goes, if races are looked for
    Marking marking{};
    unsigned repeated = 0;  // eights that another one stands for
  };
  // Eight lanes whose addresses are one line or, of a load, one point. False: something is unusual,
  // and every lane has to be looked at by itself.
  bool touch_eight(Warp& w, Eights& access, unsigned eight);
  bool place_eight(Warp& w, Eights& access, std::uint64_t address, std::uint64_t bytes,
                   MemoryPlace& at);
  bool begin_marks(Warp& w, Eights& access, Space space);
  bool mark_line(Eights& access, unsigned eight, std::uint64_t offset);
  bool mark_point(const Eights& access, unsigned eight, std::uint64_t offset);
  [[nodiscard]] bool is_the_runtimes(const MemoryPlace& at) const;
  [[nodiscard]] bool locate(const Warp& w, const MemoryTouch& t, MemoryPlace& out) const;
  // Bytes of what is at `at` that were written, and where in them it is; nullptr: not tracked.
  [[nodiscard]] ByteSet* written_at(Warp& w, const MemoryPlace& at, std::uint64_t& begin);
  void check_written(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // --- watch_copies.cc ---
  [[nodiscard]] bool is_at_mbarrier() const;  // the instruction at hand, with an atomic access
  [[nodiscard]] static bool is_under_way(Warp& w, const MemoryPlace& at, std::uint64_t bytes);
  void tell_under_way(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // --- watch_memory.cc ---
  [[nodiscard]] Marking marking(Warp& w, Space space, bool write);
  bool next_time();  // false: there is none, and races are looked for no more
  void check_races(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  void compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& earlier,
               bool earlier_wrote);
  [[nodiscard]] bool writes_what_is_there(Warp& w, const MemoryTouch& t) const;
  // Do two lanes of the store at hand write the same value to the same place?
  [[nodiscard]] bool same_store(Warp& w, unsigned a, unsigned b) const;
  void meet_others(std::uint64_t word, std::uint32_t block);
  [[nodiscard]] bool is_strong_by_name(std::uint32_t pc) const;
  // Has the block looked at the word by an atomic since that touch of it, which was one too?
  [[nodiscard]] bool has_seen(std::uint64_t word, std::uint32_t block, const Touch& earlier) const;
  // --- watch_heap.cc ---
  void check_heap(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // --- watch_barriers.cc ---
  void note_partial(Warp& w, std::uint32_t pc, unsigned barrier);
  void report_partial(const PartialArrival& arrival);
  // Lanes of the warp that could still come to where the others are.
  [[nodiscard]] static bool others_return(const Warp& w);
  [[nodiscard]] bool is_aligned_barrier(std::uint32_t pc);
  // --- watch_numbers.cc ---
  void check_division(Warp& w, const Op& op, const WatchedSite& site);
  void note_sources(Warp& w, const Op& op, const WatchedSite& site);
  void check_result(Warp& w, const Op& op, const WatchedSite& site);
  void tell_number(Warp& w, unsigned lane, bool is_nan);
  // --- watch_indices.cc ---
  [[nodiscard]] static ExactValue exact_source(Warp& w, const WatchedSite& site, std::uint32_t row,
                                               unsigned lane, unsigned source);
  void note_index(Warp& w, const Op& op, const WatchedSite& site);
  void check_index(Warp& w, const Op& op, const WatchedSite& site);
  void check_address(Warp& w, const Op& op, const WatchedSite& site);
  void tell_wrapped(Warp& w, const WatchedSite& site, const MemoryTouch& touch,
                    const ExactValue& v);
  // --- watch_findings.cc ---
  Finding& add(const Place& place, Warp& w, bool& fresh);
  [[nodiscard]] bool is_known(const Place& place);
  [[nodiscard]] std::uint64_t key_of(const Place& place);
  [[nodiscard]] std::uint32_t line_of(std::uint32_t pc);
  void name_memory(Finding& f, const MemoryTouch& t, const MemoryPlace& at) const;
  void note_sample(Outcome& outcome) const;
  [[nodiscard]] Dim3 block_of(std::uint32_t number) const;
  [[nodiscard]] Dim3 thread_of(unsigned warp, unsigned lane) const;

  LaunchState& launch_;
  Inspection wanted_;
  BlockSample sample_;
  std::vector<Op> code_;                    // of blocks that are checked
  std::vector<Op> counted_code_{};          // of others, if counters are wanted
  std::vector<std::uint8_t> seeds_swap_{};  // by pc: a load of what a compare-and-swap then expects
  std::vector<Handlers> originals_{};       // by pc: what a watching handler calls
  std::vector<std::int32_t> site_of_{};     // by pc, -1: not watched
  std::uint32_t time_ = 0;
  bool time_is_over_ = false;
  RaceShadow global_{};
  std::uint64_t running_ = ~std::uint64_t{0};  // the block that touched memory last
  std::uint32_t since_ = 1;                    // from then on
  GridClocks grid_{};
  // The last to meet others at a word of global memory, by an atomic or a volatile access.
  struct Meeting {
    std::uint32_t block = 0;
    std::uint32_t time = 0;
  };
  std::unordered_map<std::uint64_t, Meeting> last_met_{};
  std::vector<ByteSet> written_{};          // of buffers nobody initialised, by object
  std::vector<std::uint8_t> is_tracked_{};  // by object
  std::int32_t heap_object_ = -1;           // the device's heap, if there is one
  // The instruction at hand.
  std::uint32_t current_pc_ = 0;
  bool current_atomic_ = false;
  StoreAtHand store_{};
  LaneAddresses addresses_{};
  const InspectionSet& set_;
  std::uint32_t finite_sources_ = 0;
  std::uint32_t index_lanes_ = 0;  // whose value is followed
  std::array<ExactValue, 32> index_values_{};
  bool too_many_indices_ = false;
  std::unordered_map<std::uint32_t, bool> aligned_{};
  // Findings.
  bool seen_nan_ = false;
  bool seen_infinity_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> lines_{};
  std::unordered_map<std::uint64_t, std::size_t> index_{};  // by key_of
  std::vector<Finding> findings_{};
  Finding overflow_{};  // takes what goes beyond the last one
  bool truncated_ = false;
  // Counters.
  std::vector<Executed> executed_{};
  std::vector<std::uint64_t> divergent_{};  // by pc
  std::unique_ptr<Traffic> traffic_{};
};

}  // namespace assay::emulator
