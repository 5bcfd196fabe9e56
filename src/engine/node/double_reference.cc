#include "engine/node/double_reference.h"

#include "engine/contract/in_double.h"
#include "engine/contract/layout.h"
#include "engine/node/element_types.h"
#include "engine/source/in_double.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

Ended no_double(const std::string& reason, json detail = json::object()) {
  Ended ended{.verdict = Verdict::unsupported,
              .summary = "/oracle: float64: the reference cannot be computed in double: " + reason +
                         ". Without `oracle` it is compared with as any other.",
              .detail = std::move(detail)};
  ended.detail["which"] = "ref_kernel";
  ended.detail["missing"] = "a form of the reference in double";
  return ended;
}

// How a program ends that was made of the reference says that it was not to be made, unless it is
// nobody's doing.
Ended not_in_double(Ended ended) {
  const bool is_theirs =
      ended.verdict != Verdict::cancelled && ended.verdict != Verdict::engine_fault;
  if (!is_theirs) return ended;
  std::string summary = ended.summary;
  while (summary.ends_with('.')) summary.pop_back();
  return no_double(summary, std::move(ended.detail));
}

std::vector<TensorPlace> places_of(const contract::Layout& layout) {
  std::vector<TensorPlace> places;
  for (const auto& placement : layout.placements) {
    places.push_back({.name = placement.name,
                      .argument = placement.arg_index,
                      .offset = placement.offset,
                      .bytes = placement.bytes});
  }
  return places;
}

}  // namespace

DoubleReference::DoubleReference(const KernelSource& reference, const contract::Contract& judged,
                                 std::uint64_t most_shared_bytes)
    : reference_(reference), judged_(judged), most_shared_bytes_(most_shared_bytes) {}

std::optional<Ended> DoubleReference::compile(const Compiler& compiler, CompileGoal goal,
                                              const std::stop_token& stop) {
  for (const auto* contract : {&judged_, &reference_.contract}) {
    if (const auto reason = contract::why_not_in_double(*contract)) return no_double(*reason);
  }
  source::Wording wording{.source = reference_.source,
                          .options = reference_.compiler_options,
                          .names = reference_.name_expressions};
  wording.names.push_back(reference_.kernel_name);
  auto made = source::in_double(wording);
  if (const auto* none = std::get_if<source::NoDoubleForm>(&made)) {
    return no_double(none->text(), {{"line", none->line}, {"word", none->word}});
  }
  auto& form = std::get<source::DoubleForm>(made);
  source_ = reference_;
  source_.source = std::move(form.wording.source);
  source_.compiler_options = std::move(form.wording.options);
  source_.kernel_name = std::move(form.wording.names.back());
  form.wording.names.pop_back();
  source_.name_expressions = std::move(form.wording.names);
  source_.contract = contract::in_double(reference_.contract);
  auto& launch = source_.contract.launch;
  if (launch && launch->shared_mem_bytes) {
    const std::uint64_t wanted = std::uint64_t{*launch->shared_mem_bytes} * form.shared_factor;
    if (wanted > most_shared_bytes_) {
      return no_double("it needs " + std::to_string(wanted) + " bytes of shared memory then, of " +
                       std::to_string(most_shared_bytes_));
    }
    launch->shared_mem_bytes = static_cast<std::uint32_t>(wanted);
  }
  goal.which = "ref_kernel";
  auto compiled = compiler.compile(source_, goal, stop);
  if (auto* ended = std::get_if<Ended>(&compiled)) return not_in_double(std::move(*ended));
  program_ = std::move(std::get<Program>(compiled));
  return std::nullopt;
}

std::optional<Ended> DoubleReference::load(std::unique_ptr<KernelSession> session,
                                           const std::string& display_name,
                                           std::uint64_t most_bytes) {
  session_ = std::move(session);
  round_scalars(reference_.contract, display_name, reference_.source, source_.contract);
  const contract::Contract judged = contract::in_double(judged_);
  const contract::Layout layout = contract::layout(judged);
  places_ = places_of(layout);
  arena_bytes_ = layout.total_bytes;
  if (arena_bytes_ > most_bytes) {
    return no_double("its tensors need " + std::to_string(arena_bytes_ >> 20) + " MiB then, of " +
                     std::to_string(most_bytes >> 20));
  }
  auto loaded = session_->load(source_, program_, judged, places_);
  if (auto* ended = std::get_if<Ended>(&loaded)) return not_in_double(std::move(*ended));
  const auto misread =
      misread_in_double(reference_.contract, std::get<Loaded>(loaded).display_name, source_.source);
  if (misread) return no_double(*misread);
  return std::nullopt;
}

std::optional<Ended> DoubleReference::run(RefereeSession& referee,
                                          std::chrono::nanoseconds& execution_left) {
  auto filled = referee.fill_wide(arena_bytes_);
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  auto ran = session_->run(std::move(std::get<LentArena>(filled)), execution_left);
  if (auto* ended = std::get_if<Ended>(&ran)) return not_in_double(std::move(*ended));
  auto answer = referee.expect_wide();
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  return std::nullopt;
}

std::unique_ptr<RunnerProcess> DoubleReference::release() {
  return session_ ? session_->release() : nullptr;
}

}  // namespace assay::node
