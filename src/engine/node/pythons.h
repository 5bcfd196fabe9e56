// The Python interpreters of this engine and their zygotes. Nothing is looked for or started before
// it is wanted.
//
// Any thread; the first call that needs the interpreters blocks while they are asked what they
// have.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/python_spares.h"
#include "engine/node/python_zygote.h"

namespace assay::node {

class Pythons {
 public:
  // `named`: as the operator named them, empty for the active one. `library`: see PythonZygote.
  // `idle`: how long runners on a GPU are kept that nobody takes.
  Pythons(std::vector<std::string> named, std::filesystem::path library, std::chrono::seconds idle);

  [[nodiscard]] const std::vector<Interpreter>& interpreters();
  // The zygote of the interpreter that a job calls `wanted`, or why there is none. "": of the first
  // that can be used and has `package`.
  [[nodiscard]] std::variant<PythonZygote*, Ended> choose(const std::string& wanted,
                                                          const std::string& package = "torch");
  // Its runners on a GPU, made ahead. Borrows `runners`; `zygote` is one of these.
  [[nodiscard]] PythonSpares& spares(const Runners& runners, PythonZygote& zygote, const Gpu& gpu);

 private:
  const std::vector<std::string> named_;
  const std::filesystem::path library_;
  const std::chrono::seconds idle_;
  std::once_flag found_{};
  std::vector<Interpreter> interpreters_{};
  std::map<std::string, std::unique_ptr<PythonZygote>> zygotes_{};  // by name; of those usable
  std::mutex mutex_{};
  // By zygote and the GPU's uuid.
  std::map<std::pair<const PythonZygote*, std::string>, std::unique_ptr<PythonSpares>> spares_{};
};

}  // namespace assay::node
