#include "engine/node/python_reference.h"

#include "engine/node/python_start.h"

namespace assay::node {
namespace {

constexpr std::uint64_t kConstructionSeed = 42;  // the manual's

}  // namespace

PythonReference::~PythonReference() {
  if (gpu_ == nullptr || !session_) return;
  std::vector<Spares::Process> used;
  used.push_back(session_->release());
  pythons_.spares(runners_, *zygote_, *gpu_).give_back(std::move(used));
}

std::optional<Ended> PythonReference::load(const KernelSource& source,
                                           std::chrono::milliseconds timeout) {
  const auto chosen = pythons_.choose(source.python);
  if (const auto* none = std::get_if<Ended>(&chosen)) return *none;
  zygote_ = std::get<PythonZygote*>(chosen);
  auto process = gpu_ != nullptr ? pythons_.spares(runners_, *zygote_, *gpu_).take(stop_)
                                 : start_python_runner(runners_, *zygote_, nullptr, stop_);
  if (auto* ended = std::get_if<Ended>(&process)) return std::move(*ended);
  session_ = std::make_unique<PythonSession>(
      std::get<std::unique_ptr<RunnerProcess>>(std::move(process)), "ref_kernel", stop_);
  std::unique_ptr<WrapperBuild> wrappers;
  if (builds_wrappers(source)) {
    wrappers =
        std::make_unique<WrapperBuild>(compiler_.wrapper_tools(*zygote_), source, session_->file(),
                                       gpu_ != nullptr ? gpu_->arch() : kEmulatorArch, stop_);
  }
  auto loaded = session_->load(
      source, {.seed = kConstructionSeed, .on_gpu = gpu_ != nullptr, .timeout = timeout},
      std::move(wrappers));
  if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
  name_ = std::get<PythonLoaded>(loaded).name;
  return std::nullopt;
}

std::optional<Ended> PythonReference::bind(const KernelSource& source,
                                           const contract::Contract& judged,
                                           const std::vector<TensorPlace>& places) {
  // In a sweep the variants' contracts differ in what a launch needs.
  const bool is_kernels =
      !source.has_contract || source.takes_kernels_contract || source.contract == judged;
  return session_->bind(
      is_kernels ? judged : source.contract, judged, places,
      is_kernels ? PythonSession::Arguments::what_fits : PythonSession::Arguments::all);
}

std::optional<Ended> PythonReference::run(LentArena arena, std::uint32_t trial,
                                          std::chrono::nanoseconds& execution_left,
                                          const char* in_double) {
  auto ran = session_->run(std::move(arena), kConstructionSeed + trial, execution_left, in_double);
  if (auto* ended = std::get_if<Ended>(&ran)) return std::move(*ended);
  return std::nullopt;
}

}  // namespace assay::node
