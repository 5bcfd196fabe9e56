#include "engine/node/triton_assembly.h"

#include "engine/node/python_package.h"
#include "engine/node/wrapper_environment.h"

namespace assay::node {
namespace {

using nlohmann::json;

// A kernel of a thousand lines took two seconds.
constexpr std::chrono::seconds kAssembleLimit{30};
constexpr std::size_t kMaxPtxBytes = 16U << 20;

constexpr const char* kAnswerFormat = "assembly 1, assay " ASSAY_VERSION;
constexpr const char* kFigures[] = {
    "registers",           "stack_bytes",    "spill_store_bytes",     "spill_load_bytes",
    "static_shared_bytes", "constant_bytes", "module_constant_bytes", "barriers"};

std::string key_of(const std::string& ptx, const Interpreter& interpreter) {
  return CompileCache::key({kAnswerFormat, python_package(), json(interpreter.packages).dump(),
                            CompileCache::identity(interpreter.executable), ptx});
}

}  // namespace

void TritonAssembly::examine(Program& program, const std::stop_token& stop) const {
  const auto chosen = pythons_.choose(program.interpreter, "triton");
  if (!std::holds_alternative<PythonZygote*>(chosen) || program.ptx.size() > kMaxPtxBytes) return;
  PythonZygote& zygote = *std::get<PythonZygote*>(chosen);
  const std::string key = key_of(program.ptx, zygote.interpreter());
  auto said = cache_.find(key);
  if (!said) {
    auto answer = ask_host_compiler(runners_, zygote, {{"type", "assemble"}, {"ptx", program.ptx}},
                                    {}, {}, kAssembleLimit, stop);
    auto* frame = std::get_if<frames::Frame>(&answer);
    if (frame == nullptr) return;
    said = std::move(*frame);
    if (said->body.value("ok", false)) cache_.keep(key, *said);
  }
  json listed = program.kernels;
  const auto read = decode_claim(RunnerRole::compile, [&]() -> std::variant<json, Ended> {
    const json& kernels = said->body.at("kernels");
    for (json& kernel : listed) {
      const auto found = kernels.find(kernel.at("symbol").get<std::string>());
      if (found == kernels.end()) continue;
      json resources = json::object();
      for (const char* figure : kFigures) {
        resources[figure] = found->at(figure).get<std::uint64_t>();
      }
      kernel["resources"] = std::move(resources);
    }
    return listed;
  });
  if (std::holds_alternative<json>(read)) program.kernels = std::move(listed);
}

}  // namespace assay::node
