// The one log of a scenario run: header, every command echoed with its time, what it printed, and a
// footer. Written as things happen, so that a killed run leaves what it had. One thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "plans/step.h"

namespace assay::scenarios {

class ScenarioLog {
 public:
  ScenarioLog(std::filesystem::path file, const std::string& scenario);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // "<YYYYMMDD_HHMMSS>_<scenario>.log"
  [[nodiscard]] const std::string& name() const { return name_; }
  void echo(const plans::Step& step);
  void ended(const plans::StepEnd& end);
  void say(const std::string& line);
  void finish();
  [[nodiscard]] std::string text() const;

 private:
  void write(const std::string& text) const;

  std::filesystem::path file_;
  std::string name_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace assay::scenarios
