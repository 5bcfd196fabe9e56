#include "engine/node/emulated_twin.h"

namespace assay::node {
namespace {

// As much as an emulated job may have.
constexpr std::uint64_t kMaxArenaBytes = 1ULL << 30;

}  // namespace

EmulatedTwin::EmulatedTwin(const Runners& runners, const KernelTask& task,
                           const std::stop_token& stop)
    : referee_(runners.start(RunnerRole::referee), nullptr, stop),
      kernel_(runners.start(RunnerRole::kernel), RunnerRole::kernel, "/" + task.judged_name, stop) {
}

std::optional<Ended> EmulatedTwin::load(const KernelTask& task, const Program& program) {
  const contract::Contract& contract = task.kernel.contract;
  if (auto ended = referee_.open(contract, {}, nlohmann::json::object())) return ended;
  if (referee_.arena_bytes() > kMaxArenaBytes) {
    return Ended{.verdict = job::Verdict::contract_invalid,
                 .summary = "the tensors need more than the emulator takes (" +
                            std::to_string(kMaxArenaBytes >> 20) + " MiB)"};
  }
  auto loaded = kernel_.load(task.kernel, program, contract, referee_.places());
  if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
  return std::nullopt;
}

}  // namespace assay::node
