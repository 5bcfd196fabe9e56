// What a scenario's scripts really execute: bash, and every bash below it, writes each command down
// before it runs it. A log may say anything; this is what was done. Of a script for another shell
// that it starts the text is kept, as if each line ran once. Programs and make are not followed:
// what they start is seen only as the command that started them. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plans/scenarios/finding.h"

namespace assay::scenarios {

class CommandTrace {
 public:
  // `folder`: an empty one of ours; those who run in a container may write to it as well.
  explicit CommandTrace(std::filesystem::path folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // BASH_ENV of what is to be traced, where the folder lies at `inside`.
  [[nodiscard]] static std::string start_file(const std::filesystem::path& inside);

  struct Seen {
    bool in_force = false;  // some bash has read the start file
    std::vector<std::string> commands{};
  };
  [[nodiscard]] Seen read() const;

 private:
  std::filesystem::path folder_;
};

// How many of the commands compile what the scenario counts. What bash is told to run is counted
// where that bash runs it.
[[nodiscard]] std::size_t compiles_among(const std::vector<std::string>& commands,
                                         const Subject& subject);

}  // namespace assay::scenarios
