// One run of a launch with chosen contents of what nobody wrote (local_fill.h), and what it did: a
// step for every condition of a branch or guard, every address, and every value that leaves the
// thread for global memory. Two runs whose contents differ and whose steps do not have read nothing
// that mattered; the first step that differs is where an uninitialised local has an effect. What is
// only copied, or computed and never used, is no step.
//
// Borrows all it is given; used by the one thread that runs the blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/emulator/block_sample.h"
#include "engine/emulator/emulator.h"
#include "engine/emulator/local_fill.h"
#include "engine/emulator/module.h"
#include "engine/emulator/op.h"

namespace assay::emulator {

struct Warp;

// A step with all there is to say of it.
struct LocalStep {
  std::uint32_t pc = 0;
  Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
  std::uint32_t active = 0;
  std::vector<std::uint32_t> callers{};  // pcs of the calls it is inside of, innermost first
  std::uint32_t pass = 0;      // lanes for which the guard holds, or that have the same jump
  bool has_addresses = false;  // or the index of a table of jumps
  unsigned values = 0;         // of a store to global memory
  unsigned value_bytes = 0;
  bool is_tile = false;  // of a matrix: at one address for all lanes
  std::array<std::uint64_t, 32> addresses{};
  std::array<std::array<std::uint64_t, 32>, 8> value{};
};

// The code of a module with a look at each step before it, and what is known of the steps.
class SteppedCode {
 public:
  explicit SteppedCode(const Module::Text& text);
  [[nodiscard]] const Op* code() const { return code_.data(); }
  [[nodiscard]] Handler original(std::uint32_t pc) const { return originals_[pc]; }
  [[nodiscard]] const WatchedSite* site(std::uint32_t pc) const;
  // Of a store: of integers beside which others are stored by the same statement, as a structure is
  // copied with its padding.
  [[nodiscard]] bool copies(std::uint32_t pc) const { return copies_[pc] != 0; }

 private:
  void note_copies();
  const Module::Text& text_;
  std::vector<Op> code_;
  std::vector<Handler> originals_;
  std::vector<std::int32_t> site_of_;
  std::vector<std::uint8_t> copies_;
};

// The steps of the first run, a number each. Bounded: what is beyond is not compared.
struct StepRecord {
  static constexpr std::size_t kMost = 4'000'000;
  std::vector<std::uint64_t> steps{};
};

class LocalTrial {
 public:
  enum class Goal : std::uint8_t {
    record,   // fills the record
    compare,  // ends at the first step that is not the record's, at `last` at the latest
    reach,    // ends at step `last`
  };
  LocalTrial(const SteppedCode& code, const LocalFill& fill, const BlockSample& sample,
             StepRecord& record, Goal goal, std::uint64_t last = StepRecord::kMost)
      : code_(code), fill_(fill), sample_(sample), record_(record), goal_(goal), last_(last) {}

  // What a block that starts is to run.
  [[nodiscard]] const Op* code_of(Dim3 block, Dim3 grid, const Op* plain) const;
  [[nodiscard]] Handler original(std::uint32_t pc) const { return code_.original(pc); }
  // The frame of these lanes is new. No code of the function has run in it.
  void entered(Warp& w, std::uint32_t lanes) const { fill_.enter(w, lanes); }
  // False: the trial is over.
  [[nodiscard]] bool step(Warp& w, const Op& op);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Where it ended, if that is a step it was to find.
  [[nodiscard]] const std::optional<LocalStep>& found() const { return found_; }

 private:
  void read_step(Warp& w, const Op& op);
  void read_access(Warp& w, const Op& op, const WatchedSite& site);
  void read_tile(Warp& w, const Op& op);
  [[nodiscard]] std::uint64_t digest() const;

  const SteppedCode& code_;
  const LocalFill& fill_;
  const BlockSample& sample_;
  StepRecord& record_;
  Goal goal_;
  std::uint64_t last_;
  std::uint64_t steps_ = 0;
  LocalStep at_{};
  std::optional<LocalStep> found_{};
};

}  // namespace assay::emulator
