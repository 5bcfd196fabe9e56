#include "engine/runner/device_examination.h"

#include <algorithm>
#include <utility>

#include "engine/contract/fixed_contents.h"
#include "engine/judge/digest.h"
#include "engine/judge/poison.h"
#include "engine/runner/judged_output.h"

namespace assay::runner {

using contract::Placement;
using contract::TensorSpec;
using nlohmann::json;

namespace {

// Slots of the host's examiner: the run that is looked at, and what is compared with.
constexpr std::uint32_t kLookedAt = 0;
constexpr std::uint32_t kRestored = 1;
// Inputs are kept as long as they are small; larger ones are made again.
constexpr std::uint64_t kKeptInputBytes = 4ULL << 30;
constexpr std::size_t kMostTensors = 512;
// Two guards, its inputs or what is unwritten, what it was before, what is expected, a digest.
constexpr std::size_t kMostQuestionsOfTensor = 6;

}  // namespace

bool DeviceExamination::suits(const contract::Contract& contract) {
  std::size_t tensors = 0;
  for (const auto& argument : contract.args) {
    if (!argument.is_tensor()) continue;
    ++tensors;
    if (argument.tensor_spec->strides) return false;
    if (argument.is_written() && !judge::on_device::format_of(argument.tensor_spec->dtype)) {
      return false;
    }
  }
  return tensors <= kMostTensors;
}

DeviceExamination::DeviceExamination(const contract::Contract& contract,
                                     contract::ToleranceRequest caller_tolerance,
                                     judge::Secret secret, DeviceSpace& space)
    : contract_(contract),
      caller_tolerance_(caller_tolerance),
      secret_(secret),
      space_(space),
      judge_(space),
      host_(contract, caller_tolerance, secret),
      layout_(contract::layout(contract)) {
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    kept_offsets_[placement.arg_index] = kept_bytes_;
    kept_bytes_ += (placement.bytes + contract::kTensorAlignmentBytes - 1) /
                   contract::kTensorAlignmentBytes * contract::kTensorAlignmentBytes;
  }
}

std::uint32_t DeviceExamination::poison_of(const TensorSpec& tensor) const {
  return judge::poison_word(tensor.dtype, secret_, current_->fill);
}

judge::ToleranceInForce DeviceExamination::tolerance_of(const TensorSpec& tensor) const {
  return judge::tolerance_in_force(tensor.dtype, tensor.tolerance, caller_tolerance_);
}

DeviceAddress DeviceExamination::inputs(std::uint32_t trial) {
  if (const auto known = inputs_.find(trial); known != inputs_.end()) {
    return known->second.address();
  }
  if (lets_inputs_go(trial)) inputs_.clear();
  DeviceMemory memory(space_, layout_.total_bytes);
  for (const auto& placement : layout_.placements) {
    if (is_poisoned(arg(placement))) continue;
    const TensorSpec& tensor = spec(placement);
    const auto seed = tensor.init ? tensor.init->seed : std::nullopt;
    const auto stream = judge::trial_stream(secret_, seed, placement.arg_index, trial);
    judge_.generate(tensor, stream, memory.address() + placement.offset);
  }
  return (inputs_[trial] = std::move(memory)).address();
}

bool DeviceExamination::lets_inputs_go(std::uint32_t trial) const {
  return !inputs_.contains(trial) && (inputs_.size() + 1) * layout_.total_bytes > kKeptInputBytes;
}

DeviceAddress DeviceExamination::own_inputs() {
  return current_->taken ? current_->taken.address() : inputs(current_->trial);
}

void DeviceExamination::take_inputs(posix::Descriptor given) {
  const auto memory = posix::SharedMemory::adopt(given.duplicate(), layout_.total_bytes);
  DeviceMemory taken(space_, layout_.total_bytes);
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_read()) continue;
    space_.copy_in(taken.address() + placement.offset,
                   memory.bytes().subspan(placement.offset, placement.bytes));
    space_.copy(current_->arena.address() + placement.offset, taken.address() + placement.offset,
                placement.bytes);
  }
  space_.finish();
  current_->taken = std::move(taken);
  current_->given = std::move(given);
}

posix::Descriptor DeviceExamination::fill(std::uint32_t trial, std::uint32_t slot) {
  Slot& filled = slots_[slot];
  if (!filled.arena) {
    auto shared = space_.allocate_shared(layout_.total_bytes);
    filled.arena = DeviceMemory(space_, shared);
    filled.lent_bytes = shared.bytes;
    filled.descriptor = std::move(shared.descriptor);
  }
  filled.trial = trial;
  filled.fill = ++fills_;
  filled.taken = {};
  filled.given = {};
  current_ = &filled;
  const DeviceAddress arena = filled.arena.address();
  const DeviceAddress from = inputs(trial);
  // What lies behind the tensors too: a kernel would find there what another has left.
  judge_.fill_pattern(arena, 0, filled.lent_bytes, judge::guard_word(secret_, filled.fill));
  for (const auto& placement : layout_.placements) {
    if (is_poisoned(arg(placement))) {
      judge_.fill_pattern(arena, placement.offset, placement.bytes, poison_of(spec(placement)));
    } else {
      space_.copy(arena + placement.offset, from + placement.offset, placement.bytes);
    }
  }
  space_.finish();
  return filled.descriptor.duplicate();
}

void DeviceExamination::draw_otherwise() {
  for (const auto& placement : layout_.placements) {
    const auto other = contract::other_contents(arg(placement));
    if (!other) continue;
    const auto stream =
        judge::trial_stream(secret_, std::nullopt, placement.arg_index, current_->trial);
    judge_.generate(*other, stream, current_->arena.address() + placement.offset);
  }
  space_.finish();
}

DeviceExamination::Kept DeviceExamination::keep() {
  Kept kept{.outputs = DeviceMemory(space_, std::max<std::uint64_t>(kept_bytes_, 1)),
            .fill = current_->fill};
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    space_.copy(kept.outputs.address() + kept_offsets_.at(placement.arg_index),
                current_->arena.address() + placement.offset, placement.bytes);
  }
  return kept;
}

void DeviceExamination::ask_behaviour() {
  const DeviceAddress arena = current_->arena.address();
  const std::uint32_t guard = judge::guard_word(secret_, current_->fill);
  for (const auto& placement : layout_.placements) {
    (void)judge_.breached(arena, placement.guard_begin, placement.offset, guard);
    (void)judge_.breached(arena, placement.offset + placement.bytes, placement.guard_end, guard);
    const DeviceAddress data = arena + placement.offset;
    if (!arg(placement).is_written()) {
      const DeviceAddress before = own_inputs() + placement.offset;
      (void)judge_.differing(data, before, placement.bytes);
    } else if (is_poisoned(arg(placement))) {
      const TensorSpec& tensor = spec(placement);
      (void)judge_.unwritten(data, placement.bytes, tensor.dtype, poison_of(tensor));
    }
  }
}

json DeviceExamination::expect() {
  const std::uint32_t trial = current_->trial;
  ask_behaviour();
  const auto answers = judge_.answers();
  const bool clean = std::all_of(answers.begin(), answers.end(),
                                 [](const auto& answer) { return answer.count == 0; });
  Kept kept = keep();
  kept.clean = clean;
  host_expects_.erase(trial);
  json said = {{"findings", json::array()}};
  if (!clean) {
    fetch();
    said = host_.expect();
    host_expects_.insert(trial);
  }
  expected_[trial] = std::move(kept);
  return said;
}

void DeviceExamination::ask_digests() {
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    (void)judge_.digest(current_->arena.address() + placement.offset, placement.bytes);
  }
}

json DeviceExamination::take_digests(std::vector<DeviceJudge::Answer>& answers) const {
  json told = json::object();
  auto next = answers.end() - static_cast<std::ptrdiff_t>(kept_offsets_.size());
  const auto first = next;
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    told[arg(placement).name] = judge::spelled_digest((next++)->count);
  }
  answers.erase(first, answers.end());
  return told;
}

std::optional<DeviceJudge::Question> DeviceExamination::ask_comparisons(const Kept& expected) {
  std::optional<DeviceJudge::Question> first;
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    const TensorSpec& tensor = spec(placement);
    const auto poison =
        is_poisoned(arg(placement)) ? std::optional(poison_of(tensor)) : std::nullopt;
    const auto question =
        judge_.compare(current_->arena.address() + placement.offset,
                       expected.outputs.address() + kept_offsets_.at(placement.arg_index),
                       tensor.elements(), tensor.dtype, tolerance_of(tensor).value, poison);
    if (!first) first = question;
  }
  return first;
}

json DeviceExamination::outline() {
  std::size_t next = ask_comparisons(expected_.at(current_->trial)).value_or(0);
  const auto answers = judge_.answers();
  json outputs = json::array();
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    outputs.push_back({{"name", arg(placement).name},
                       {"shape", spec(placement).shape},
                       {"ok", answers.at(next++).count == 0}});
  }
  return {{"outputs", std::move(outputs)}};
}

DeviceExamination::Asked DeviceExamination::ask_check() {
  const std::uint32_t trial = current_->trial;
  const auto expected = expected_.find(trial);
  const auto before = given_.find(trial);
  Asked asked{.slot = current_,
              .may_be_clean = expected == expected_.end() || expected->second.clean,
              // Beside expected outputs the first trial is enough to see a kernel that does not
              // repeat.
              .is_kept = before == given_.end() && (trial == 0 || expected_.empty())};
  const std::size_t first = judge_.asked();
  ask_behaviour();
  const DeviceAddress arena = current_->arena.address();
  if (before != given_.end()) {
    for (const auto& [argument, offset] : kept_offsets_) {
      const auto placement = std::find_if(
          layout_.placements.begin(), layout_.placements.end(),
          [wanted = argument](const Placement& one) { return one.arg_index == wanted; });
      (void)judge_.differing(arena + placement->offset, before->second.outputs.address() + offset,
                             placement->bytes);
    }
  }
  if (expected != expected_.end()) {
    asked.first_comparison = ask_comparisons(expected->second).value_or(first) - first;
  }
  asked.has_digests = asked.is_kept && trial == 0;
  if (asked.has_digests) ask_digests();
  asked.questions = judge_.asked() - first;
  return asked;
}

json DeviceExamination::told(const Asked& asked, std::vector<DeviceJudge::Answer> answers) {
  current_ = asked.slot;
  const json digests = asked.has_digests ? take_digests(answers) : json();
  const bool is_clean =
      asked.may_be_clean && std::all_of(answers.begin(), answers.end(),
                                        [](const auto& answer) { return answer.count == 0; });
  json said = is_clean ? json{{"ok", true},
                              {"outputs", clean_outputs(answers, asked.first_comparison)},
                              {"findings", json::array()}}
                       : look_closely();
  if (asked.has_digests) said["digests"] = digests;
  if (asked.is_kept) given_[current_->trial] = keep();
  return said;
}

json DeviceExamination::check() {
  const Asked asked = ask_check();
  return told(asked, judge_.answers());
}

void DeviceExamination::tell(std::vector<Asked>& asked, std::vector<json>& said) {
  const auto answers = judge_.answers();
  auto next = answers.begin();
  for (const Asked& one : std::exchange(asked, {})) {
    const auto end = next + static_cast<std::ptrdiff_t>(one.questions);
    said.push_back(told(one, {next, end}));
    next = end;
  }
}

std::vector<json> DeviceExamination::check_all(std::span<const std::uint32_t> slots) {
  const std::size_t most_questions = kMostQuestionsOfTensor * layout_.placements.size();
  std::vector<json> said;
  std::vector<Asked> asked;
  for (const std::uint32_t slot : slots) {
    select(slot);
    // What one run of a trial is held against may be what one before it gave.
    const bool is_of_one_before = std::any_of(asked.begin(), asked.end(), [&](const Asked& one) {
      return one.slot->trial == current_->trial;
    });
    // Nor is memory to go that a question before is still about.
    const bool lets_go = !current_->taken && lets_inputs_go(current_->trial);
    if (is_of_one_before || lets_go || !judge_.has_room_for(most_questions)) tell(asked, said);
    select(slot);
    asked.push_back(ask_check());
  }
  tell(asked, said);
  return said;
}

json DeviceExamination::clean_outputs(const std::vector<DeviceJudge::Answer>& answers,
                                      DeviceJudge::Question first_comparison) const {
  json outputs = json::array();
  const bool compared = expected_.contains(current_->trial);
  std::size_t next = first_comparison;
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    json output = judged_output(arg(placement), tolerance_of(spec(placement)));
    if (compared) {
      const DeviceJudge::Answer& answer = answers.at(next++);
      output.update(describe(judge::Comparison{.equal = true,
                                               .elements = spec(placement).elements(),
                                               .max_abs_error = answer.max_abs_error,
                                               .max_rel_error = answer.max_rel_error,
                                               .max_ulp_error = answer.max_ulp_error}));
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

void DeviceExamination::fetch() {
  const auto arena = host_.restore(current_->trial, kLookedAt, current_->fill);
  if (current_->given) host_.take_inputs(current_->given.duplicate());
  space_.copy_out(arena, current_->arena.address());
}

void DeviceExamination::fetch_kept(const Kept& kept, std::uint32_t trial) {
  const auto arena = host_.restore(trial, kRestored, kept.fill);
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    space_.copy_out(arena.subspan(placement.offset, placement.bytes),
                    kept.outputs.address() + kept_offsets_.at(placement.arg_index));
  }
}

void DeviceExamination::fetch_expected(std::uint32_t trial) {
  const auto expected = expected_.find(trial);
  if (expected == expected_.end() || host_expects_.contains(trial)) return;
  fetch_kept(expected->second, trial);
  (void)host_.expect();
  host_expects_.insert(trial);
}

void DeviceExamination::fetch_given(std::uint32_t trial) {
  const auto given = given_.find(trial);
  if (given == given_.end() || host_knows_given_.contains(trial)) return;
  fetch_kept(given->second, trial);
  host_.remember_given();
  host_knows_given_.insert(trial);
}

json DeviceExamination::look_closely() {
  const std::uint32_t trial = current_->trial;
  fetch_expected(trial);
  fetch_given(trial);
  fetch();
  json said = host_.check();
  // What it gave now it has kept by itself, by the same rule as here.
  if (!given_.contains(trial)) host_knows_given_.insert(trial);
  return said;
}

json DeviceExamination::weak_oracle() {
  const std::uint32_t trial = current_->trial;
  const auto expected = expected_.find(trial);
  if (expected == expected_.end()) {
    return {{"warnings", json::array()}, {"expected", json::object()}};
  }
  fetch_kept(expected->second, trial);
  if (current_->given) host_.take_inputs(current_->given.duplicate());
  if (!host_expects_.contains(trial)) {
    (void)host_.expect();
    host_expects_.insert(trial);
  }
  return host_.weak_oracle();
}

}  // namespace assay::runner
