// Shell scripts.
#include <regex>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/command_audit.h"

namespace assay::scenarios {
namespace {

constexpr int kMaxDepth = 8;  // of heredocs in heredocs

// Whether what is written to `command` by a heredoc is run: by a shell, or from the file it
// becomes.
bool runs_its_heredoc(const Joined& code) {
  for (const auto& command : commands_of(code)) {
    for (const auto& word : command.words) {
      if (is_shell(word.text) || word.text.ends_with(".sh")) return true;
    }
  }
  return false;
}

void look_for_images(const LogicalLine& line, const std::string& file, const Subject& subject,
                     std::vector<Finding>& into) {
  static const std::regex removes("\\b(rmi|image\\s+rm|image\\s+prune)\\b", std::regex::icase);
  for (const auto& command : commands_of(line.code)) {
    const std::string& text = command.code.text();
    const auto* name = forbidden_in(text, subject);
    if (name == nullptr || only_prints(command) ||
        std::regex_search(text.substr(0, kMatchedLength), removes))
      continue;
    into.push_back({"builder_image", file, command.code.line_at(text.find(*name)), text,
                    "uses the image '" + *name + "'"});
  }
}

void look_at_script(const Heredoc& script, const std::string& file, const Subject& subject,
                    int depth, std::vector<Finding>& into) {
  for (const auto& line : logical_lines(script.text, Dialect::shell, script.first_line)) {
    look_for_images(line, file, subject, into);
    for (const auto& command : commands_of(line.code)) audit_command(command, file, subject, into);
    if (depth == kMaxDepth || !runs_its_heredoc(line.code)) continue;
    for (const auto& heredoc : line.heredocs)
      look_at_script(heredoc, file, subject, depth + 1, into);
  }
}

}  // namespace

std::vector<Finding> audit_script(const std::string& text, const std::string& file,
                                  const Subject& subject, int first_line) {
  std::vector<Finding> findings;
  look_at_script({text, first_line}, file, subject, 0, findings);
  return findings;
}

}  // namespace assay::scenarios
