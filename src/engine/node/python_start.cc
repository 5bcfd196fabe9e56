#include "engine/node/python_start.h"

#include <stdexcept>

namespace assay::node {
namespace {

struct ZygoteRefuses : std::runtime_error {
  explicit ZygoteRefuses(const NoPython& none)
      : std::runtime_error(none.reason), is_fault(none.is_fault) {}
  bool is_fault;
};

using Started = std::variant<std::unique_ptr<RunnerProcess>, Ended>;

// `start` makes the process of what the zygote forks.
template <typename Start>
Started forked(PythonZygote& zygote, const std::stop_token& stop, const Start& start) {
  try {
    return start([&](confinement::SpawnRequest request) {
      auto child = zygote.spawn(std::move(request), stop);
      if (auto* none = std::get_if<NoPython>(&child)) throw ZygoteRefuses(*none);
      return std::get<confinement::Child>(std::move(child));
    });
  } catch (const ZygoteRefuses& refused) {
    if (stop.stop_requested()) {
      return cancelled();
    }
    if (refused.is_fault) return our_fault(refused.what());
    return Ended{.verdict = job::Verdict::unsupported,
                 .summary = std::string("No Python kernel can run here: ") + refused.what() + ".",
                 .detail = {{"missing", "an interpreter with a working torch"}}};
  }
}

}  // namespace

Started start_python_runner(const Runners& runners, PythonZygote& zygote, const Gpu* gpu,
                            const std::stop_token& stop) {
  std::optional<GpuAccess> access;
  if (gpu != nullptr) access = GpuAccess{.nodes = gpu->nodes(), .uuid = gpu->uuid};
  return forked(zygote, stop, [&](const Spawner& spawn) {
    return runners.start_python(zygote.interpreter().readable, access ? &*access : nullptr, spawn);
  });
}

Started start_host_compiler(const Runners& runners, PythonZygote& zygote,
                            const std::filesystem::path& readable,
                            const std::filesystem::path& writable, const std::stop_token& stop) {
  std::vector<std::string> folders = zygote.interpreter().readable;
  if (!readable.empty()) folders.push_back(readable.string());
  return forked(zygote, stop, [&](const Spawner& spawn) {
    return runners.start_host_compiler(std::move(folders), writable.string(), spawn);
  });
}

}  // namespace assay::node
