#include "engine/node/locals_check.h"

#include "engine/node/kernel_inspection.h"

namespace assay::node {
namespace {

using nlohmann::json;

struct Looked {
  Inspected said{};
  double compile_ms = 0;
  double run_ms = 0;
};

std::variant<Looked, Ended> look(const LocalsRun& run) {
  const contract::Contract& contract = run.task.kernel.contract;
  auto compiled = run.compiler.compile(run.task.kernel, {.debug = true}, run.stop);
  if (auto* ended = std::get_if<Ended>(&compiled)) return std::move(*ended);
  const Program& program = std::get<Program>(compiled);
  KernelSession session(run.runners.start(RunnerRole::kernel), RunnerRole::kernel,
                        "/" + run.task.judged_name, run.stop);
  auto loaded = session.load(run.task.kernel, program, contract, run.referee.places());
  if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
  const auto began = std::chrono::steady_clock::now();
  auto said =
      inspect(run.referee, session, {{"locals"}, run.task.check_blocks}, run.execution_left);
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  return Looked{.said = std::move(std::get<Inspected>(said)),
                .compile_ms = program.elapsed_ms,
                .run_ms = took.count()};
}

}  // namespace

bool wants_locals(const KernelTask& task) {
  return task.kernel.kernel_type == "cuda" && is_among(task.checks, "initialised");
}

void check_locals(const LocalsRun& run, json& checks) {
  auto answer = look(run);
  checks["locals"] = {{"ran", false}};
  if (const auto* ended = std::get_if<Ended>(&answer)) {
    checks["notes"].push_back(
        "Uninitialised locals were not looked for, which takes a build with "
        "-G: " +
        ended->summary);
    return;
  }
  auto& looked = std::get<Looked>(answer);
  checks["locals"] = {{"ran", true}, {"compile_ms", looked.compile_ms}, {"run_ms", looked.run_ms}};
  for (auto& finding : looked.said.findings) checks["findings"].push_back(std::move(finding));
  for (auto& note : looked.said.notes) checks["notes"].push_back(std::move(note));
}

}  // namespace assay::node
