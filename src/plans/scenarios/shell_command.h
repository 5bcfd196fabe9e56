// The single commands of a line of shell, as far as that can be told without running it: what
// stands between `&&`, `||`, `;`, `|` and parentheses; the commands inside of `bash -c "…"` instead
// of it. Values; any thread.
#pragma once

#include <string>
#include <vector>

#include "plans/scenarios/source_lines.h"

namespace assay::scenarios {

struct ShellWord {
  std::string text{};      // without its quotes
  std::size_t offset = 0;  // in the command's code
};

struct ShellCommand {
  Joined code{};
  std::vector<ShellWord> words{};
};

[[nodiscard]] std::vector<ShellCommand> commands_of(const Joined& line);
// Of an argv: ["bash", "-c", "…"] is what that says.
[[nodiscard]] std::vector<ShellCommand> commands_of(const std::vector<std::string>& argv, int line);

// Of "/usr/bin/bash": "bash".
[[nodiscard]] std::string program_name(const std::string& word);
[[nodiscard]] bool is_shell(const std::string& word);
// echo and printf say what they are given, and do none of it.
[[nodiscard]] bool only_prints(const ShellCommand& command);

}  // namespace assay::scenarios
