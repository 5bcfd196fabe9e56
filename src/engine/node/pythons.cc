#include "engine/node/pythons.h"

namespace assay::node {
namespace {

Ended no_python(std::string why, const std::vector<Interpreter>& known) {
  return {.verdict = job::Verdict::unsupported,
          .summary = std::move(why),
          .detail = {{"missing", "an interpreter with torch"}, {"python", describe(known)}}};
}

}  // namespace

Pythons::Pythons(std::vector<std::string> named, std::filesystem::path library,
                 std::chrono::seconds idle)
    : named_(std::move(named)), library_(std::move(library)), idle_(idle) {}

const std::vector<Interpreter>& Pythons::interpreters() {
  std::call_once(found_, [this] {
    interpreters_ = find_interpreters(named_);
    for (const Interpreter& one : interpreters_) {
      if (!one.missing.empty()) continue;
      zygotes_.emplace(one.name, std::make_unique<PythonZygote>(one, library_));
    }
  });
  return interpreters_;
}

std::variant<PythonZygote*, Ended> Pythons::choose(const std::string& wanted,
                                                   const std::string& package) {
  const auto& known = interpreters();
  const Interpreter* chosen = wanted.empty() ? usable(known, package) : named(known, wanted);
  if (chosen == nullptr && wanted.empty()) return no_python(why_no_python(known), known);
  if (chosen == nullptr) {
    return no_python("This engine has no interpreter '" + wanted + "'.", known);
  }
  if (!chosen->missing.empty()) {
    return no_python("Interpreter '" + wanted + "' cannot be used: " + chosen->missing + ".",
                     known);
  }
  std::error_code ignored;
  if (std::filesystem::exists(library_, ignored)) return zygotes_.at(chosen->name).get();
  return no_python("This installation lacks " + library_.filename().string() +
                       " beside its executables: no Python runner can be confined.",
                   known);
}

PythonSpares& Pythons::spares(const Runners& runners, PythonZygote& zygote, const Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  auto& spares = spares_[{&zygote, gpu.uuid}];
  if (!spares) spares = std::make_unique<PythonSpares>(runners, zygote, gpu, idle_);
  return *spares;
}

}  // namespace assay::node
