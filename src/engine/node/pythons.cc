#include "engine/node/pythons.h"

namespace assay::node {

Pythons::Pythons(std::vector<std::string> named, std::filesystem::path library)
    : named_(std::move(named)), library_(std::move(library)) {}

const std::vector<Interpreter>& Pythons::interpreters() {
  std::call_once(found_, [this] {
    interpreters_ = find_interpreters(named_);
    if (const Interpreter* first = usable(interpreters_)) {
      zygote_ = std::make_unique<PythonZygote>(*first, library_);
    }
  });
  return interpreters_;
}

std::variant<PythonZygote*, Ended> Pythons::choose() {
  const auto& known = interpreters();
  std::error_code ignored;
  if (zygote_ != nullptr && std::filesystem::exists(library_, ignored)) return zygote_.get();
  const std::string why = zygote_ == nullptr
                              ? why_no_python(known)
                              : "This installation lacks " + library_.filename().string() +
                                    " beside its executables: no Python runner can be confined.";
  return Ended{.verdict = job::Verdict::unsupported,
               .summary = why,
               .detail = {{"missing", "an interpreter with torch"}, {"python", describe(known)}}};
}

PythonSpares& Pythons::spares(const Runners& runners, const Gpu& gpu) {
  const std::lock_guard lock(mutex_);
  auto& spares = spares_[gpu.uuid];
  if (!spares) spares = std::make_unique<PythonSpares>(runners, *zygote_, gpu);
  return *spares;
}

}  // namespace assay::node
