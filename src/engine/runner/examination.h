// One contract's tensors over the trials of a job, as the referee holds them: fills arenas with
// inputs and poison, keeps what is expected, and examines what came back. Trusted; runs in the
// referee process, whose memory no runner can reach. One thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/contract/layout.h"
#include "engine/judge/generator.h"
#include "engine/judge/precision.h"
#include "engine/posix/descriptor.h"
#include "engine/runner/examiner.h"
#include "engine/runner/wide_arena.h"

namespace assay::runner {

class Examination final : public Examiner {
 public:
  Examination(contract::Contract contract, contract::ToleranceRequest caller_tolerance,
              judge::Secret secret);

  [[nodiscard]] const contract::Layout& layout() const override { return layout_; }
  [[nodiscard]] bool is_on_device() const override { return false; }
  [[nodiscard]] posix::Descriptor fill(std::uint32_t trial, std::uint32_t slot) override;
  void take_inputs(posix::Descriptor given) override;
  void draw_otherwise() override;
  void select(std::uint32_t slot) override { current_ = &turns_.at(slot); }
  void count_as(std::uint32_t trial) override { current_->trial = trial; }
  [[nodiscard]] nlohmann::json expect() override;
  void expect_in_double(Part part) override;
  [[nodiscard]] posix::Descriptor fill_wide() override;
  void expect_wide() override;
  [[nodiscard]] nlohmann::json check() override;
  [[nodiscard]] nlohmann::json weak_oracle() override;

  // For runs that were made elsewhere and are looked at here: the arena as fill() would make it
  // under the given poison, and room to put in what the run left.
  [[nodiscard]] std::span<std::byte> restore(std::uint32_t trial, std::uint32_t slot,
                                             std::uint32_t poison_number);
  // What the candidate gave for this trial when it first ran is now in the arena.
  void remember_given();

  // What every trial must give, base64 by argument: for inputs that are literal. Throws
  // std::runtime_error if it does not fit the contract.
  void expect_always(const nlohmann::json& outputs);

 private:
  using Bytes = std::vector<std::byte>;
  struct Turn {
    posix::SharedMemory arena{};
    Bytes pristine{};  // the arena as it was handed out
    std::uint32_t trial = 0;
    std::uint32_t fill = 0;  // numbers the poison: no two runs see the same
  };
  struct Kept {
    std::map<std::size_t, Bytes> outputs{};                // by argument index, contiguous
    std::map<std::size_t, std::vector<bool>> unwritten{};  // of the poisoned ones, by element
  };
  struct Inputs {
    std::vector<Bytes> bytes{};              // contiguous
    std::vector<judge::TensorView> views{};  // of them
  };

  [[nodiscard]] const contract::TensorSpec& spec(const contract::Placement& placement) const;
  [[nodiscard]] const contract::Arg& arg(const contract::Placement& placement) const;
  [[nodiscard]] std::uint32_t poison_of(const contract::TensorSpec& spec) const;
  [[nodiscard]] Bytes output(const contract::Placement& placement, const Bytes& arena) const;
  void fill_tensor(const contract::Placement& placement, std::uint32_t trial);
  void fill_contents(const contract::Placement& placement, const contract::TensorSpec& tensor,
                     std::uint32_t trial);
  // What the run in hand read, as it was handed out.
  [[nodiscard]] Inputs inputs_as_given() const;
  // A private copy of the arena: the runner still has the pages mapped and may write on.
  [[nodiscard]] Bytes take_arena() const;
  [[nodiscard]] Kept keep(const Bytes& arena) const;
  // Elements that the reference left unwritten are nobody's to write.
  [[nodiscard]] nlohmann::json behaviour(const Bytes& arena, const Kept* reference) const;
  [[nodiscard]] std::vector<bool> unwritten(const contract::Placement& placement,
                                            const Bytes& output) const;
  // The finding of a repetition that gave other bytes, or null.
  [[nodiscard]] nlohmann::json difference(const contract::Placement& placement, const Kept& before,
                                          const Bytes& now) const;
  [[nodiscard]] nlohmann::json judge_output(const contract::Placement& placement,
                                            const Bytes& got) const;
  // Of each output, by name.
  [[nodiscard]] nlohmann::json digests(const Kept& got) const;
  // What is known of this trial's reference in double; null if nothing is.
  [[nodiscard]] nlohmann::json judge_precision(const contract::Placement& placement,
                                               const Bytes& got);

  contract::Contract contract_;
  contract::ToleranceRequest caller_tolerance_;
  judge::Secret secret_;
  contract::Layout layout_;
  std::map<std::uint32_t, Turn> turns_{};  // by slot
  Turn* current_ = nullptr;
  std::uint32_t fills_ = 0;
  std::map<std::uint32_t, Kept> expected_{};  // by trial
  std::map<std::uint32_t, std::map<Part, Kept>> in_double_{};
  // By argument, then by trial: they are judged together.
  std::map<std::size_t, std::map<std::uint32_t, judge::Precision>> precisions_{};
  std::optional<WideArena> wide_{};        // of the run in double that is the latest
  std::optional<Kept> always_{};           // what is expected of trials to come
  std::map<std::uint32_t, Kept> given_{};  // by the candidate, when it first ran a trial
};

}  // namespace assay::runner
