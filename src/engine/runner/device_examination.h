// The examiner on a device: inputs are made there, runs work in its memory, and what they leave is
// compared there, so that no tensor crosses to the host while nothing is wrong. Whatever a device's
// counters do not find clean is fetched and examined once more by the host's examiner, which alone
// decides and explains; so both give the same answers.
//
// Borrows the space. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "engine/judge/comparison.h"
#include "engine/runner/device_judge.h"
#include "engine/runner/examination.h"

namespace assay::runner {

class DeviceExamination final : public Examiner {
 public:
  // What only the host can examine: strided tensors, outputs of 8-bit floats or complex numbers,
  // hundreds of tensors.
  [[nodiscard]] static bool suits(const contract::Contract& contract);

  // REQUIRES suits(contract).
  DeviceExamination(const contract::Contract& contract, contract::ToleranceRequest caller_tolerance,
                    judge::Secret secret, DeviceSpace& space);

  [[nodiscard]] const contract::Layout& layout() const override { return layout_; }
  [[nodiscard]] bool is_on_device() const override { return true; }
  [[nodiscard]] posix::Descriptor fill(std::uint32_t trial, std::uint32_t slot) override;
  void take_inputs(posix::Descriptor given) override;
  void draw_otherwise() override;
  void select(std::uint32_t slot) override { current_ = &slots_.at(slot); }
  void count_as(std::uint32_t trial) override { current_->trial = trial; }
  [[nodiscard]] nlohmann::json expect() override;
  [[nodiscard]] nlohmann::json check() override;
  // In one round trip, as far as no slot's answer hangs on that of one before it.
  [[nodiscard]] std::vector<nlohmann::json> check_all(
      std::span<const std::uint32_t> slots) override;
  [[nodiscard]] nlohmann::json outline() override;
  [[nodiscard]] nlohmann::json weak_oracle() override;

 private:
  struct Slot {
    DeviceMemory arena{};
    posix::Descriptor descriptor{};
    std::size_t lent_bytes = 0;  // by it: the arena, and what lies behind
    std::uint32_t trial = 0;
    std::uint32_t fill = 0;  // numbers the poison: no two runs see the same
    // Inputs that were made elsewhere: on the device, laid out as an arena, and as they were given.
    DeviceMemory taken{};
    posix::Descriptor given{};
  };
  // What one run left in the tensors that are written.
  struct Kept {
    DeviceMemory outputs{};  // one behind the other
    std::uint32_t fill = 0;
    bool clean = true;  // nothing to find fault with
  };

  [[nodiscard]] const contract::Arg& arg(const contract::Placement& placement) const {
    return contract_.args[placement.arg_index];
  }
  [[nodiscard]] const contract::TensorSpec& spec(const contract::Placement& placement) const {
    return *arg(placement).tensor_spec;
  }
  [[nodiscard]] std::uint32_t poison_of(const contract::TensorSpec& tensor) const;
  [[nodiscard]] judge::ToleranceInForce tolerance_of(const contract::TensorSpec& tensor) const;
  // The inputs of a trial, laid out as in an arena.
  [[nodiscard]] DeviceAddress inputs(std::uint32_t trial);
  // Those that the current arena began with.
  // Whether these inputs have no room beside those that are kept.
  [[nodiscard]] bool lets_inputs_go(std::uint32_t trial) const;
  [[nodiscard]] DeviceAddress own_inputs();
  [[nodiscard]] Kept keep();
  // A check whose questions are on their way.
  struct Asked {
    Slot* slot = nullptr;
    std::size_t questions = 0;
    DeviceJudge::Question first_comparison = 0;  // of these
    bool may_be_clean = true;
    bool is_kept = false;
    bool has_digests = false;
  };
  // REQUIRES no other check of that trial to be on its way.
  [[nodiscard]] Asked ask_check();
  // `answers`: those of its questions.
  [[nodiscard]] nlohmann::json told(const Asked& asked, std::vector<DeviceJudge::Answer> answers);
  // Of all that are on their way.
  void tell(std::vector<Asked>& asked, std::vector<nlohmann::json>& said);
  // Asks about guards, inputs and unwritten elements of the current arena.
  void ask_behaviour();
  // Whether the current arena's outputs are what is expected, one after the other; the first
  // question.
  [[nodiscard]] std::optional<DeviceJudge::Question> ask_comparisons(const Kept& expected);
  // The digests of the current arena's outputs: asked for last, and taken off the answers' end.
  void ask_digests();
  [[nodiscard]] nlohmann::json take_digests(std::vector<DeviceJudge::Answer>& answers) const;
  [[nodiscard]] nlohmann::json clean_outputs(const std::vector<DeviceJudge::Answer>& answers,
                                             DeviceJudge::Question first_comparison) const;

  // The current arena, and what was kept of its trial, in the host's hands.
  void fetch();
  void fetch_expected(std::uint32_t trial);
  void fetch_given(std::uint32_t trial);
  void fetch_kept(const Kept& kept, std::uint32_t trial);
  [[nodiscard]] nlohmann::json look_closely();

  const contract::Contract contract_;
  contract::ToleranceRequest caller_tolerance_;
  judge::Secret secret_;
  DeviceSpace& space_;
  DeviceJudge judge_;
  Examination host_;
  const contract::Layout layout_;
  std::map<std::size_t, std::uint64_t> kept_offsets_{};  // by argument, in Kept::outputs
  std::uint64_t kept_bytes_ = 0;
  std::map<std::uint32_t, Slot> slots_{};
  Slot* current_ = nullptr;
  std::uint32_t fills_ = 0;
  std::map<std::uint32_t, DeviceMemory> inputs_{};  // by trial
  std::map<std::uint32_t, Kept> expected_{};        // by trial
  std::map<std::uint32_t, Kept> given_{};           // likewise, when the candidate first ran it
  std::set<std::uint32_t> host_expects_{};          // trials that host_ knows the answer of
  std::set<std::uint32_t> host_knows_given_{};
};

}  // namespace assay::runner
