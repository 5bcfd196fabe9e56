// The files and words of one run, resolved. Pure but for absolute paths; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plans/optest/selection.h"

namespace assay::optest {

struct Resolved {
  std::filesystem::path workdir{};
  std::vector<std::filesystem::path> inputs{};
  std::vector<std::filesystem::path> outputs{};
  std::map<std::string, std::string> tokens{};
  std::map<std::string, std::string> environment{};
  std::vector<Command> prepare{};
  Command command{};
  std::vector<Command> cleanup{};
};

// `files`: where relative inputs and outputs lie instead of the workdir; "" for the workdir itself.
[[nodiscard]] Resolved resolve(const Plan& plan, const Run& run,
                               const std::filesystem::path& files = {});

}  // namespace assay::optest
