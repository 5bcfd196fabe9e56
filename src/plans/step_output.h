// What a step prints, as it comes: to its log, to the kept beginning of standard output, to the
// tail of both. Owned by the thread that runs the step. Private to this room.
#pragma once

#include "engine/posix/descriptor.h"
#include "plans/step.h"

namespace assay::plans {

class StepOutput {
 public:
  // A log that cannot be opened is said in the end's detail; the step runs all the same.
  explicit StepOutput(const std::filesystem::path& log);

  // The writing ends are for the child.
  [[nodiscard]] posix::Descriptor take_standard_output() { return std::move(out_.theirs); }
  [[nodiscard]] posix::Descriptor take_standard_error() { return std::move(err_.theirs); }
  // -1 once everyone has closed it.
  [[nodiscard]] int standard_output() const { return out_.ours.get(); }
  [[nodiscard]] int standard_error() const { return err_.ours.get(); }

  // Takes what is there. Never blocks.
  void drain();
  [[nodiscard]] bool ended() const { return !out_.ours && !err_.ours; }
  [[nodiscard]] bool flooded() const { return seen_bytes_ > kFloodBytes; }
  void tell(StepEnd& end) const;

 private:
  void drain_one(posix::Descriptor& from, bool is_standard_output);
  void take(std::string_view bytes, bool is_standard_output);

  posix::Pair out_;
  posix::Pair err_;
  posix::Descriptor log_{};
  std::string log_problem_{};
  std::string kept_{};
  std::string tail_{};
  std::uint64_t seen_bytes_ = 0;
  std::uint64_t logged_bytes_ = 0;
};

}  // namespace assay::plans
