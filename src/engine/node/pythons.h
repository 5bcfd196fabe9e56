// The Python interpreters of this engine and their zygotes. Nothing is looked for or started before
// it is wanted.
//
// Any thread; the first call that needs the interpreters blocks while they are asked what they
// have.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/python_spares.h"
#include "engine/node/python_zygote.h"

namespace assay::node {

class Pythons {
 public:
  // `named`: as the operator named them, empty for the active one. `library`: see PythonZygote.
  Pythons(std::vector<std::string> named, std::filesystem::path library);

  [[nodiscard]] const std::vector<Interpreter>& interpreters();
  // The zygote of the first interpreter that can be used, or why there is none.
  [[nodiscard]] std::variant<PythonZygote*, Ended> choose();
  // Its runners on a GPU, made ahead. REQUIRES that choose() gave a zygote. Borrows `runners`.
  [[nodiscard]] PythonSpares& spares(const Runners& runners, const Gpu& gpu);

 private:
  const std::vector<std::string> named_;
  const std::filesystem::path library_;
  std::once_flag found_{};
  std::vector<Interpreter> interpreters_{};
  std::unique_ptr<PythonZygote> zygote_{};
  std::mutex mutex_{};
  std::map<std::string, std::unique_ptr<PythonSpares>> spares_{};  // by the GPU's uuid
};

}  // namespace assay::node
