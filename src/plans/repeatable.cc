#include "plans/repeatable.h"

namespace assay::plans {
namespace {

constexpr const char* kFolder = "\"$d\"";

}  // namespace

std::string Repeatable::word(const std::string& text) const {
  const std::string root = gone_.string();
  std::size_t at = root.empty() ? std::string::npos : text.find(root);
  if (at == std::string::npos) return quoted(text);
  std::string out;
  std::size_t done = 0;
  for (; at != std::string::npos; at = text.find(root, done)) {
    if (at > done) out += quoted(text.substr(done, at - done));
    out += kFolder;
    done = at + root.size();
  }
  return done < text.size() ? out + quoted(text.substr(done)) : out;
}

std::string Repeatable::words(const std::vector<std::string>& argv) const {
  std::string text;
  for (const auto& one : argv) text += (text.empty() ? "" : " ") + word(one);
  return text;
}

std::string Repeatable::line(const Step& step) const {
  const std::string cwd = word(step.cwd.string());
  // A folder of the user's is there; ours was made by whoever ran the step.
  const bool is_gone = cwd.find(kFolder) != std::string::npos;
  std::string text = (is_gone ? "mkdir -p " + cwd + " && cd " : "cd ") + cwd + " &&";
  if (!step.environment.empty()) text += " env";
  for (const auto& [key, value] : step.environment) text += " " + word(key + "=" + value);
  return text + " " + words(step.argv);
}

std::string Repeatable::script(const std::vector<Step>& steps) const {
  std::string text;
  for (const auto& step : steps) text += (text.empty() ? "" : " && ") + line(step);
  return text.find(kFolder) == std::string::npos ? text : "d=$(mktemp -d) && " + text;
}

}  // namespace assay::plans
