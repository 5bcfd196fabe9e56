// Command lines that still work when the folder they ran in is gone: what was below that folder is
// written below "$d", which is a new empty one. Immutable; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plans/step.h"

namespace assay::plans {

class Repeatable {
 public:
  // `gone`: the job's own folder. Empty: nothing is.
  explicit Repeatable(std::filesystem::path gone) : gone_(std::move(gone)) {}

  // As command_line(), with "$d" in it.
  [[nodiscard]] std::string words(const std::vector<std::string>& argv) const;
  // One line for a shell that does one step after another and ends at the first that fails.
  [[nodiscard]] std::string script(const std::vector<Step>& steps) const;

 private:
  [[nodiscard]] std::string word(const std::string& text) const;
  [[nodiscard]] std::string line(const Step& step) const;

  std::filesystem::path gone_;
};

}  // namespace assay::plans
