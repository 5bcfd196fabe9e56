// The inspection of one launch. Its code is the module's with the handlers of what is looked at
// replaced by one that looks first and then calls the original, so that a launch without an
// inspection pays nothing. One thread runs all blocks of an inspected launch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/emulator/block_sample.h"
#include "engine/emulator/byte_set.h"
#include "engine/emulator/doubts.h"
#include "engine/emulator/exact_values.h"
#include "engine/emulator/lane_addresses.h"
#include "engine/emulator/launch_state.h"
#include "engine/emulator/number_natures.h"
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

// Lanes that a warp-wide operation waits for, and where they stood when it began to.
struct AwaitedLanes {
  Warp* warp = nullptr;
  std::uint32_t pc = 0;  // of the operation
  std::uint32_t lanes = 0;
  std::uint32_t at = 0;
};

// Global memory that copies under way read from: by where each of them writes to.
struct CopySource {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t pc = 0;
  unsigned warp = 0;
  unsigned lane = 0;
};
struct CopySources {
  std::unordered_map<std::uint64_t, CopySource> by_target{};
  std::uint64_t begin = 0;  // all of them lie in here
  std::uint64_t end = 0;
  void add(std::uint64_t target, const CopySource& source);
  [[nodiscard]] const CopySource* at(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] bool may_be_at(std::uint64_t address, std::uint64_t bytes) const {
    return !by_target.empty() && address < end && address + bytes > begin;
  }
};

// What a watch keeps per block, from its start to its end.
struct BlockWatch {
  BlockWatch(std::uint32_t number, unsigned threads, std::size_t shared_bytes)
      : clocks(number, threads),
        shared(shared_bytes),
        written(shared_bytes),
        doubts((threads + 31) / 32) {}
  BlockClocks clocks;
  RaceShadow shared;
  ByteSet written;
  ByteSet copied{};     // targets of copies that are under way; made for the first one
  bool copies = false;  // there was one
  CopySources sources{};
  std::uint32_t began = 0;  // when it first touched memory
  std::vector<PartialArrival> partial{};
  std::vector<AwaitedLanes> awaited{};
  ExactValues exact{};
  NumberOrigins numbers{};
  std::vector<Doubts> doubts;  // by warp
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
  // The same by the masks that its active lanes name.
  void warp_synchronised(Warp& w, const std::uint32_t* masks);
  void fence(Warp& w, std::uint32_t pc);
  // An asynchronous copy to these bytes of shared memory is under way, which the instruction at
  // hand asked for.
  struct CopyAsked {
    unsigned lane = 0;
    std::uint64_t to = 0;  // in shared memory
    std::uint64_t bytes = 0;
    Space from_space = Space::global;
    std::uint64_t from = 0;
    std::uint64_t read = 0;  // bytes
  };
  void copy_begins(Warp& w, const CopyAsked& copy);
  // An mbarrier's word: it was initialised, its phase is over, a waiter found that one is.
  void phases_begin(Warp& w, const std::byte* barrier);
  void phase_over(Warp& w, const std::byte* barrier);
  void phase_seen(Warp& w, const std::byte* barrier, const Op& op, unsigned lane);
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
  // Every lane of a shuffle has what the lane `from` had before.
  void shuffled(Warp& w, const Op& op, const std::array<std::uint32_t, 32>& before,
                const std::array<std::uint8_t, 32>& from);
  void inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from);
  // One instruction of a warp that holds values of lanes that were not there.
  void in_doubt(Warp& w, const Op& op);
  void excluded_caller(Warp& w, const Op& op, unsigned lane);
  void partial_mask(Warp& w, const Op& op, std::uint32_t missing);
  // The warp-wide operation at `pc` waits for lanes; those that are `present` execute it.
  void members_awaited(Warp& w, std::uint32_t pc, std::uint32_t missing);
  void members_met(Warp& w, std::uint32_t pc, std::uint32_t present);
  // Of an operation at `pc`, the masks by lane; active lanes that name each other name the same.
  void check_masks(Warp& w, std::uint32_t pc, const std::uint32_t* masks);

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
  [[nodiscard]] bool is_librarys(std::uint32_t pc) const;
  // --- watch_bounds.cc ---
  void find_shared_variables();
  // Whether shared memory is some variable's there, as far as the layout tells variables apart.
  [[nodiscard]] bool is_in_variable(const MemoryPlace& at, std::uint64_t bytes) const;
  void tell_outside(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // --- watch_copies.cc ---
  [[nodiscard]] static std::uint64_t word_of(const Warp& w, const std::byte* barrier);
  [[nodiscard]] bool is_at_mbarrier() const;  // the instruction at hand, with an atomic access
  [[nodiscard]] static bool is_under_way(Warp& w, const MemoryPlace& at, std::uint64_t bytes);
  void tell_under_way(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  [[nodiscard]] bool is_a_source(Warp& w, const MemoryPlace& at, std::uint64_t bytes) const;
  void check_source(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // A bulk copy reads what threads wrote only once they have let it.
  void check_proxy(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  // --- watch_memory.cc ---
  [[nodiscard]] Marking marking(Warp& w, Space space, bool write);
  bool next_time();  // false: there is none, and races are looked for no more
  void check_races(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  [[nodiscard]] std::uint32_t displaced_by(Warp& w, const MemoryTouch& t, const RaceShadow& shadow,
                                           const Mark& earlier, const Marking& now) const;
  void compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, Touch earlier,
               bool earlier_wrote);
  void tell_race(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& earlier,
                 bool earlier_wrote);
  [[nodiscard]] bool writes_what_is_there(Warp& w, const MemoryTouch& t) const;
  // Do two lanes of the store at hand write the same value to the same place?
  [[nodiscard]] bool same_store(Warp& w, unsigned a, unsigned b) const;
  void meet_others(Warp& w, const MemoryTouch& t, std::uint64_t word);
  [[nodiscard]] bool is_relaxed(std::uint32_t pc);
  [[nodiscard]] bool waits_by_volatile();
  [[nodiscard]] bool ignores_result(std::uint32_t pc);
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
  [[nodiscard]] bool is_one_place(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool is_of_block(std::uint32_t pc);
  [[nodiscard]] bool is_for_copies(std::uint32_t pc);
  [[nodiscard]] static bool are_under_way(const Warp& w, std::uint32_t lanes);
  // --- watch_masks.cc ---
  void tell_passed_by(Warp& w, const AwaitedLanes& a, std::uint32_t present, std::uint32_t gone);
  void tell_masks_differ(Warp& w, std::uint32_t pc, unsigned lane, unsigned other);
  // --- watch_doubts.cc ---
  const SpokenOp& spoken_at(std::uint32_t pc);
  [[nodiscard]] std::uint32_t pc_of(const Op& op) const;
  [[nodiscard]] bool is_in_doubt(const Op& op) const;
  void doubt_result(Warp& w, const Op& op, std::uint32_t lanes, const DoubtOrigin& origin);
  void tell_doubt(Warp& w, const DoubtOrigin& origin);
  [[nodiscard]] std::uint32_t undecided(Warp& w, const Op& op, const SpokenOp& s);
  void shuffle_doubts(Warp& w, const Op& op, const std::array<std::uint8_t, 32>& from);
  // --- watch_numbers.cc ---
  void check_division(Warp& w, const Op& op, const WatchedSite& site);
  [[nodiscard]] bool answers_for_a_function(std::uint32_t pc);
  void note_copies(Warp& w, const Op& op, const WatchedSite& site);
  void copy_origins(Warp& w, const Op& op, const WatchedSite& site);
  void note_sources(Warp& w, const Op& op, const WatchedSite& site);
  void check_result(Warp& w, const Op& op, const WatchedSite& site);
  [[nodiscard]] bool is_told(NumberOrigin o) const { return o.is_nan ? seen_nan_ : seen_infinity_; }
  void tell_number(Warp& w, unsigned lane, NumberOrigin origin, bool decides = false);
  // --- watch_comparisons.cc ---
  void check_comparison(Warp& w, const Op& op, const WatchedSite& site);
  [[nodiscard]] static std::uint32_t nans_made(Warp& w, std::uint32_t row, unsigned bytes);
  [[nodiscard]] std::uint32_t nans_chosen_from(Warp& w, const Op& op) const;
  [[nodiscard]] std::uint32_t nans_resulting(Warp& w, const Op& op, std::uint32_t pc) const;
  // --- watch_number_paths.cc ---
  void numbers_before(Warp& w, const Op& op, const WatchedSite& site);
  void numbers_after(Warp& w, const Op& op, const WatchedSite& site);
  void check_stored(Warp& w, const Op& op, const WatchedSite& site);
  void check_swapped_in(Warp& w, const Op& op, const WatchedSite& site);
  void note_local_addresses(Warp& w, const Op& op, const WatchedSite& site);
  void note_loaded(Warp& w, const Op& op, const WatchedSite& site);
  void note_product(Warp& w, const Op& op);
  void check_product(Warp& w, const Op& op);
  void check_stored_matrix(Warp& w, const Op& op);
  void look_at_sums(Warp& w, const Op& op, const WatchedSite& site, bool is_before);
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
  std::vector<Op> code_;            // of blocks that are checked
  std::vector<Op> counted_code_{};  // of others, if counters are wanted
  std::vector<Op> doubted_code_{};  // of warps that are followed; made for the first one
  std::unordered_map<std::uint32_t, SpokenOp> spoken_{};
  std::uint32_t shuffled_doubts_ = 0;
  std::uint32_t compared_nans_ = 0;  // lanes of the comparison at hand
  DoubtOrigin compared_origin_{};
  unsigned comparisons_doubted_ = 0;
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
  struct SharedRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t variable = 0;  // index into Text::shared
  };
  std::vector<SharedRange> shared_variables_{};  // empty: there is no room between them
  std::vector<ByteSet> written_{};               // of buffers nobody initialised, by object
  std::vector<std::uint8_t> is_tracked_{};       // by object
  std::int32_t heap_object_ = -1;                // the device's heap, if there is one
  // The instruction at hand.
  std::uint32_t current_pc_ = 0;
  bool current_atomic_ = false;
  StoreAtHand store_{};
  LaneAddresses addresses_{};
  const InspectionSet& set_;
  std::array<NumberSources, 32> sources_{};
  std::array<std::array<CopiedNumber, 32>, 2> copied_{};
  std::array<std::uint64_t, 32> number_addresses_{};
  std::uint32_t finite_sums_ = 0;  // lanes that add to one
  std::unordered_map<std::uint32_t, bool> answering_{};
  std::uint32_t index_lanes_ = 0;  // whose value is followed
  std::array<ExactValue, 32> index_values_{};
  bool too_many_indices_ = false;
  std::unordered_map<std::uint32_t, bool> aligned_{};
  std::unordered_map<std::uint32_t, bool> of_block_{};
  std::unordered_map<std::uint32_t, bool> for_copies_{};
  std::unordered_map<std::uint32_t, bool> relaxed_{};
  std::optional<bool> waits_by_volatile_{};
  std::unordered_map<std::uint32_t, bool> ignoring_{};
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
