// The compiled stage of a KernelJob: its programs, or what a program holds where nothing else was
// asked.
#include "engine/node/kernel_job.h"
#include "engine/node/program_facts.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

// Of a block on the emulator: as much as the largest devices have.
constexpr std::uint64_t kMostSharedBytes = 227ULL << 10;

}  // namespace

CompileGoal KernelJob::goal() const {
  if (gpu_ == nullptr) return {.timeout = task_.timeout};
  return {.arch = gpu_->gpu().arch(),
          .examine = true,
          .device = gpu_->gpu().facts,
          .timeout = task_.timeout};
}

KernelJob::Step KernelJob::compile_reference(json& body, std::vector<Artifact>& artifacts) {
  if (task_.reference->is_python()) {
    python_reference_.emplace(runners_, pythons_, compiler_,
                              gpu_ != nullptr ? &gpu_->gpu() : nullptr, stop_);
    if (auto ended = python_reference_->load(*task_.reference, task_.timeout)) {
      return about_reference(std::move(*ended));
    }
    body["reference"] = {{"compiled", true}, {"target", python_reference_->name()}};
    return std::nullopt;
  }
  CompileGoal wanted = goal();
  wanted.which = "ref_kernel";
  auto compiled = compiler_.compile(*task_.reference, wanted, stop_);
  if (auto* ended = std::get_if<Ended>(&compiled)) return about_reference(std::move(*ended));
  reference_program_ = std::move(std::get<Program>(compiled));
  body["reference"] = {{"compiled", true}, {"elapsed_ms", reference_program_->elapsed_ms}};
  artifacts.push_back({"ref.ptx", "text/plain", reference_program_->ptx});
  return task_.in_double ? compile_in_double(body, artifacts) : std::nullopt;
}

KernelJob::Step KernelJob::compile_in_double(json& body, std::vector<Artifact>& artifacts) {
  std::uint64_t most_shared_bytes = kMostSharedBytes;
  if (gpu_ != nullptr) {
    most_shared_bytes = gpu_->gpu().facts.value("shared_bytes_per_block", kMostSharedBytes);
  }
  double_reference_.emplace(*task_.reference, task_.kernel.contract, most_shared_bytes);
  if (auto ended = double_reference_->compile(compiler_, goal(), stop_)) return ended;
  body["reference"]["in_double"] = true;
  artifacts.push_back({"ref_in_double.cu", "text/plain", double_reference_->source()});
  return std::nullopt;
}

KernelJob::Step KernelJob::compile_stage() {
  StageClock clock(reporter_, "compiled");
  clock.body = {{"arch", goal().arch}};
  if (task_.reference) {
    if (auto ended = compile_reference(clock.body, clock.artifacts)) {
      return clock.tell(std::move(ended));
    }
  }
  auto compiled = compiler_.compile(task_.kernel, goal(), stop_);
  if (auto* ended = std::get_if<Ended>(&compiled)) {
    ended->detail["which"] = "kernel";
    if (ended->detail.contains("log")) {
      clock.artifacts.push_back({"log", "text/plain", ended->detail["log"].get<std::string>()});
    }
    return clock.tell(std::move(*ended));
  }
  program_ = std::move(std::get<Program>(compiled));
  if (!program_->diagnostics.empty()) clock.body["diagnostics"] = program_->diagnostics;
  if (!program_->configuration.is_null()) clock.body["configuration"] = program_->configuration;
  for (const auto& warning : program_->warnings) warnings_.push_back(warning);
  clock.body["compiler"] = program_->compiler;
  clock.body["compile_ms"] = program_->elapsed_ms;
  clock.body["cached"] = program_->cached;
  clock.body["ptx_bytes"] = program_->ptx.size();
  if (!program_->log.empty()) clock.body["log"] = program_->log.substr(0, 4096);
  clock.artifacts.push_back({"ptx", "text/plain", program_->ptx});
  if (!program_->log.empty()) clock.artifacts.push_back({"log", "text/plain", program_->log});
  return clock.tell(std::nullopt);
}

KernelJob::Step KernelJob::list_stage() {
  StageClock clock(reporter_, "compiled");
  clock.body = {{"arch", task_.listing->arch}};
  auto compiled =
      compiler_.compile(task_.kernel, {.arch = task_.listing->arch, .examine = true}, stop_);
  if (auto* ended = std::get_if<Ended>(&compiled)) {
    if (ended->detail.contains("log")) {
      clock.artifacts.push_back({"log", "text/plain", ended->detail["log"].get<std::string>()});
    }
    return clock.tell(std::move(*ended));
  }
  Program& program = std::get<Program>(compiled);
  if (program.called) {
    if (auto ended = compiler_.list(program, stop_)) return clock.tell(std::move(ended));
  }
  for (const auto& warning : program.warnings) warnings_.push_back(warning);
  auto told = decode_claim(RunnerRole::compile, [&]() -> std::variant<json, Ended> {
    return tell_program(program, task_.kernel, *task_.listing);
  });
  if (auto* ended = std::get_if<Ended>(&told)) return clock.tell(std::move(*ended));
  clock.body.update(std::get<json>(told));
  compiled_summary_ = summary_of(clock.body, task_.kernel.kernel_name);
  clock.artifacts.push_back({"ptx", "text/plain", std::move(program.ptx)});
  if (!program.cubin.empty()) {
    clock.artifacts.push_back({"cubin", "application/octet-stream", std::move(program.cubin)});
  }
  if (!program.log.empty()) clock.artifacts.push_back({"log", "text/plain", program.log});
  program_ = Program{.compiler = program.compiler, .interpreter = program.interpreter};
  return clock.tell(std::nullopt);
}

}  // namespace assay::node
