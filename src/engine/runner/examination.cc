#include "engine/runner/examination.h"

#include <algorithm>
#include <stdexcept>

#include "engine/contract/fixed_contents.h"
#include "engine/contract/payload.h"
#include "engine/judge/comparison.h"
#include "engine/judge/digest.h"
#include "engine/judge/poison.h"
#include "engine/judge/precision.h"
#include "engine/judge/spread.h"
#include "engine/judge/strided.h"
#include "engine/judge/weak_oracle.h"
#include "engine/runner/judged_output.h"

namespace assay::runner {

using contract::Placement;
using contract::TensorSpec;
using nlohmann::json;

namespace {

// Where the mask is set, `to` becomes what `from` is, and no NaN that could be taken for poison.
void take_over(const std::vector<bool>& mask, std::size_t element_bytes,
               const std::vector<std::byte>& from, std::vector<std::byte>& to) {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * element_bytes), element_bytes,
                to.begin() + static_cast<std::ptrdiff_t>(i * element_bytes));
  }
}

std::span<const std::byte> part(const std::vector<std::byte>& arena, const Placement& placement) {
  return std::span(arena).subspan(placement.offset, placement.bytes);
}

}  // namespace

Examination::Examination(contract::Contract contract, contract::ToleranceRequest caller_tolerance,
                         judge::Secret secret)
    : contract_(std::move(contract)),
      caller_tolerance_(caller_tolerance),
      secret_(secret),
      layout_(contract::layout(contract_)) {}

const contract::Arg& Examination::arg(const Placement& placement) const {
  return contract_.args[placement.arg_index];
}

const TensorSpec& Examination::spec(const Placement& placement) const {
  return *arg(placement).tensor_spec;
}

std::uint32_t Examination::poison_of(const TensorSpec& spec) const {
  return judge::poison_word(spec.dtype, secret_, current_->fill);
}

posix::Descriptor Examination::fill(std::uint32_t trial, std::uint32_t slot) {
  (void)restore(trial, slot, ++fills_);
  return current_->arena.descriptor().duplicate();
}

void Examination::take_inputs(posix::Descriptor given) {
  const auto memory = posix::SharedMemory::adopt(std::move(given), layout_.total_bytes);
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_read()) continue;
    const auto from = memory.bytes().subspan(placement.offset, placement.bytes);
    const auto to = current_->arena.bytes().subspan(placement.offset, placement.bytes);
    std::copy(from.begin(), from.end(), to.begin());
  }
  current_->pristine = take_arena();
}

void Examination::draw_otherwise() {
  for (const auto& placement : layout_.placements) {
    const auto other = contract::other_contents(arg(placement));
    if (other) fill_contents(placement, *other, current_->trial);
  }
  current_->pristine = take_arena();
}

std::span<std::byte> Examination::restore(std::uint32_t trial, std::uint32_t slot,
                                          std::uint32_t poison_number) {
  current_ = &turns_[slot];
  *current_ = {.arena = posix::SharedMemory::create("assay-arena", layout_.total_bytes),
               .trial = trial,
               .fill = poison_number};
  judge::fill_pattern(current_->arena.bytes(), judge::guard_word(secret_, current_->fill));
  for (const auto& placement : layout_.placements) fill_tensor(placement, trial);
  current_->pristine = take_arena();
  if (always_) expected_.try_emplace(trial, *always_);
  return current_->arena.bytes();
}

void Examination::remember_given() { given_[current_->trial] = keep(take_arena()); }

void Examination::fill_tensor(const Placement& placement, std::uint32_t trial) {
  const TensorSpec& tensor = spec(placement);
  const auto to = current_->arena.bytes().subspan(placement.offset, placement.bytes);
  judge::fill_pattern(to, poison_of(tensor), placement.offset);
  if (!is_poisoned(arg(placement))) fill_contents(placement, tensor, trial);
}

void Examination::fill_contents(const Placement& placement, const TensorSpec& tensor,
                                std::uint32_t trial) {
  const auto to = current_->arena.bytes().subspan(placement.offset, placement.bytes);
  const auto seed = tensor.init ? tensor.init->seed : std::nullopt;
  const auto stream = judge::trial_stream(secret_, seed, placement.arg_index, trial);
  if (!tensor.strides) return judge::generate(tensor, stream, to);
  Bytes elements(tensor.contiguous_bytes());
  judge::generate(tensor, stream, elements);
  judge::scatter(tensor, elements, to);
}

Examination::Bytes Examination::take_arena() const {
  const auto bytes = current_->arena.bytes();
  return {bytes.begin(), bytes.end()};
}

Examination::Bytes Examination::output(const Placement& placement, const Bytes& arena) const {
  const TensorSpec& tensor = spec(placement);
  Bytes elements(tensor.contiguous_bytes());
  judge::gather(tensor, part(arena, placement), elements);
  return elements;
}

Examination::Inputs Examination::inputs_as_given() const {
  Inputs inputs;
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_read()) continue;
    const Bytes& bytes = inputs.bytes.emplace_back(output(placement, current_->pristine));
    inputs.views.push_back({.name = arg(placement).name,
                            .dtype = spec(placement).dtype,
                            .shape = spec(placement).shape,
                            .bytes = bytes});
  }
  return inputs;
}

Examination::Kept Examination::keep(const Bytes& arena) const {
  Kept kept;
  for (const auto& placement : layout_.placements) {
    if (arg(placement).is_written()) {
      Bytes elements = output(placement, arena);
      if (is_poisoned(arg(placement))) {
        kept.unwritten[placement.arg_index] = unwritten(placement, elements);
      }
      kept.outputs[placement.arg_index] = std::move(elements);
    }
  }
  return kept;
}

std::vector<bool> Examination::unwritten(const Placement& placement, const Bytes& output) const {
  const TensorSpec& tensor = spec(placement);
  return judge::unwritten_mask(output, tensor.dtype, poison_of(tensor));
}

json Examination::behaviour(const Bytes& arena, const Kept* reference) const {
  json findings = json::array();
  for (const auto& placement : layout_.placements) {
    const contract::Arg& argument = arg(placement);
    if (const auto breach =
            judge::check_guards(arena, placement, judge::guard_word(secret_, current_->fill))) {
      findings.push_back({{"check", "guard_zone"},
                          {"tensor", argument.name},
                          {"side", judge::name(breach->side)},
                          {"distance_bytes", breach->distance_bytes},
                          {"count_bytes", breach->count_bytes}});
    }
    if (!argument.is_written()) {
      const auto mutation =
          judge::input_mutated(part(current_->pristine, placement), part(arena, placement));
      if (mutation) {
        findings.push_back({{"check", "input_mutated"},
                            {"tensor", argument.name},
                            {"count_bytes", mutation->count_bytes},
                            {"first_byte", mutation->first_byte}});
      }
    } else if (is_poisoned(argument)) {
      std::vector<bool> left = unwritten(placement, output(placement, arena));
      if (reference != nullptr) {
        const auto& excused = reference->unwritten.at(placement.arg_index);
        for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] && !excused[i];
      }
      const auto count = std::count(left.begin(), left.end(), true);
      if (count > 0) {
        findings.push_back({{"check", "unwritten"},
                            {"tensor", argument.name},
                            {"count", count},
                            {"first", std::find(left.begin(), left.end(), true) - left.begin()},
                            {"elements", left.size()}});
      }
    }
  }
  return findings;
}

json Examination::expect() {
  const Bytes arena = take_arena();
  expected_[current_->trial] = keep(arena);
  return {{"findings", behaviour(arena, nullptr)}};
}

void Examination::expect_in_double(Part part) {
  in_double_[current_->trial][part] = keep(take_arena());
}

posix::Descriptor Examination::fill_wide() {
  wide_.emplace(contract_, layout_);
  return wide_->fill(current_->pristine, judge::guard_word(secret_, current_->fill));
}

void Examination::expect_wide() {
  if (!wide_) throw std::runtime_error("nothing ran in double");
  const auto reference = expected_.find(current_->trial);
  auto& parts = in_double_[current_->trial];
  for (std::size_t i = 0; i < layout_.placements.size(); ++i) {
    const Placement& placement = layout_.placements[i];
    if (!arg(placement).is_written()) continue;
    WideArena::Parts both = wide_->parts(i);
    // What the reference never wrote holds poison in both, each time another.
    if (reference != expected_.end() && is_poisoned(arg(placement))) {
      take_over(reference->second.unwritten.at(placement.arg_index),
                contract::size_bytes(spec(placement).dtype),
                reference->second.outputs.at(placement.arg_index), both.high);
    }
    parts[Part::high].outputs[placement.arg_index] = std::move(both.high);
    parts[Part::low].outputs[placement.arg_index] = std::move(both.low);
  }
  wide_.reset();
}

void Examination::expect_always(const json& outputs) {
  Kept kept;
  for (const auto& placement : layout_.placements) {
    const auto golden = outputs.find(arg(placement).name);
    if (!arg(placement).is_written() || golden == outputs.end()) continue;
    const TensorSpec& tensor = spec(placement);
    const auto decoded =
        contract::decode_payload(golden->get_ref<const std::string&>(), contract::Compression::none,
                                 tensor.contiguous_bytes());
    if (const auto* fault = std::get_if<contract::PayloadError>(&decoded)) {
      throw std::runtime_error("what is expected of " + arg(placement).name + ": " +
                               fault->message);
    }
    const auto bytes = std::as_bytes(std::span(std::get<std::string>(decoded)));
    kept.outputs[placement.arg_index] = Bytes(bytes.begin(), bytes.end());
    kept.unwritten[placement.arg_index] = std::vector<bool>(tensor.elements(), false);
  }
  always_ = std::move(kept);
}

json Examination::judge_output(const Placement& placement, const Bytes& got) const {
  const TensorSpec& tensor = spec(placement);
  const auto tolerance =
      judge::tolerance_in_force(tensor.dtype, tensor.tolerance, caller_tolerance_);
  json out = judged_output(arg(placement), tolerance);
  const auto kept = expected_.find(current_->trial);
  if (kept == expected_.end()) return out;
  const auto expected = kept->second.outputs.find(placement.arg_index);
  if (expected == kept->second.outputs.end()) return out;
  const auto poison = is_poisoned(arg(placement)) ? std::optional(poison_of(tensor)) : std::nullopt;
  Bytes wanted = expected->second;
  // What the reference never wrote says nothing of what is right.
  if (const auto mask = kept->second.unwritten.find(placement.arg_index);
      mask != kept->second.unwritten.end()) {
    take_over(mask->second, contract::size_bytes(tensor.dtype), got, wanted);
  }
  const auto comparison =
      judge::compare(wanted, got, tensor.dtype, tensor.shape, tolerance.value, poison);
  out["ok"] = comparison.equal;
  out.update(describe(comparison));
  return out;
}

json Examination::judge_precision(const Placement& placement, const Bytes& got) {
  const auto exact = in_double_.find(current_->trial);
  const auto expected = expected_.find(current_->trial);
  if (exact == in_double_.end() || expected == expected_.end()) return nullptr;
  const Bytes& high = exact->second.at(Part::high).outputs.at(placement.arg_index);
  const Bytes& low = exact->second.at(Part::low).outputs.at(placement.arg_index);
  const Bytes& reference = expected->second.outputs.at(placement.arg_index);
  const TensorSpec& tensor = spec(placement);
  const auto precision =
      judge::precision_of({.high = high, .low = low}, reference, got, tensor.dtype);
  if (!precision) return nullptr;
  const auto tolerance =
      judge::tolerance_in_force(tensor.dtype, tensor.tolerance, caller_tolerance_);
  const bool same =
      judge::compare(high, reference, tensor.dtype, tensor.shape, tolerance.value).equal;
  json told = describe(*precision, same);
  if (!same) return told;
  auto& trials = precisions_[placement.arg_index];
  trials[current_->trial] = *precision;
  judge::Precision all{};
  for (const auto& [trial, one] : trials) all = judge::together(all, one);
  const judge::TensorView output{.dtype = tensor.dtype, .shape = tensor.shape, .bytes = high};
  told["over_trials"] =
      describe_over_trials(all, judge::ratio_limits(inputs_as_given().views, output));
  return told;
}

// An element that neither run wrote holds poison both times, each time another: no difference.
json Examination::difference(const Placement& placement, const Kept& before,
                             const Bytes& now) const {
  Bytes then = before.outputs.at(placement.arg_index);
  if (is_poisoned(arg(placement))) {
    std::vector<bool> neither = unwritten(placement, now);
    const auto& left_before = before.unwritten.at(placement.arg_index);
    for (std::size_t i = 0; i < neither.size(); ++i) neither[i] = neither[i] && left_before[i];
    take_over(neither, contract::size_bytes(spec(placement).dtype), now, then);
  }
  if (then == now) return nullptr;
  const TensorSpec& tensor = spec(placement);
  const auto tolerance =
      judge::tolerance_in_force(tensor.dtype, tensor.tolerance, caller_tolerance_);
  const auto comparison = judge::compare(then, now, tensor.dtype, tensor.shape, tolerance.value);
  return {{"check", "repeat_differs"},
          {"tensor", arg(placement).name},
          {"within_tolerance", comparison.equal}};
}

json Examination::digests(const Kept& got) const {
  json told = json::object();
  for (const auto& [argument, bytes] : got.outputs) {
    told[contract_.args[argument].name] = judge::spelled_digest(judge::digest(bytes));
  }
  return told;
}

json Examination::check() {
  const Bytes arena = take_arena();
  Kept got = keep(arena);
  json told = json::array();
  const auto expected = expected_.find(current_->trial);
  json findings = behaviour(arena, expected == expected_.end() ? nullptr : &expected->second);
  bool ok = true;
  const auto before = given_.find(current_->trial);
  for (const auto& placement : layout_.placements) {
    if (!arg(placement).is_written()) continue;
    const Bytes& bytes = got.outputs.at(placement.arg_index);
    json judged = judge_output(placement, bytes);
    ok = ok && judged["ok"].get<bool>();
    if (json precision = judge_precision(placement, bytes); !precision.is_null()) {
      if (precision.value(json::json_pointer("/over_trials/lost"), false)) {
        findings.push_back(
            {{"check", "precision"}, {"tensor", arg(placement).name}, {"precision", precision}});
      }
      judged["precision"] = std::move(precision);
    }
    told.push_back(std::move(judged));
    if (before == given_.end()) continue;
    json other = difference(placement, before->second, bytes);
    if (!other.is_null()) findings.push_back(std::move(other));
  }
  // Beside expected outputs the first trial is enough to see a kernel that does not repeat.
  const bool is_kept = before == given_.end() && (current_->trial == 0 || expected_.empty());
  json said = {{"ok", ok}, {"outputs", std::move(told)}, {"findings", std::move(findings)}};
  if (is_kept && current_->trial == 0) said["digests"] = digests(got);
  if (is_kept) given_[current_->trial] = std::move(got);
  return said;
}

json Examination::weak_oracle() {
  json said = {{"warnings", json::array()}, {"expected", json::object()}};
  const auto kept = expected_.find(current_->trial);
  if (kept == expected_.end()) return said;
  const Inputs inputs = inputs_as_given();
  for (const auto& placement : layout_.placements) {
    const auto expected = kept->second.outputs.find(placement.arg_index);
    if (expected == kept->second.outputs.end()) continue;
    const TensorSpec& tensor = spec(placement);
    const judge::TensorView view{.name = arg(placement).name,
                                 .dtype = tensor.dtype,
                                 .shape = tensor.shape,
                                 .bytes = expected->second};
    const auto tolerance =
        judge::tolerance_in_force(tensor.dtype, tensor.tolerance, caller_tolerance_);
    said["expected"][view.name] = {{"middle_size", judge::middle_size(view)},
                                   {"atol", tolerance.value.atol},
                                   {"rtol", tolerance.value.rtol}};
    for (const auto& weak : judge::weak_oracle(view, inputs.views, tolerance.value)) {
      said["warnings"].push_back({{"answer", judge::name(weak.answer)},
                                  {"output", weak.output},
                                  {"input", weak.input},
                                  {"message", weak.message}});
    }
  }
  return said;
}

}  // namespace assay::runner
