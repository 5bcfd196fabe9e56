#include "plans/scenarios/command_audit.h"

#include <algorithm>
#include <array>
#include <regex>

#include "plans/scenarios/compile_command.h"

namespace assay::scenarios {
namespace {

struct Rule {
  const char* kind;
  const char* pattern;
  const char* message;
};

constexpr std::array<Rule, 9> kRules{{
    {"prefetch", "\\bpip[0-9.]*\\s+download\\b", "wheels are fetched ahead of the install"},
    {"prefetch", "\\b(curl|wget|aria2c)\\b.*\\.whl\\b", "a wheel is fetched ahead of the install"},
    {"prefetch", "--find-links\\b|\\bpip[0-9.]*\\s+install\\b.*\\s-f[ =]",
     "packages come from a folder of wheels"},
    {"compiler_cache", "\\bs?ccache\\b|_COMPILER_LAUNCHER\\b", "a compiler cache is in use"},
    {"prefetch", "\\bPIP_FIND_LINKS=", "packages come from a folder of wheels"},
    {"cache_from", "--cache-from\\b", "a build takes layers from a cache"},
    {"cache_to", "--cache-to\\b|BUILDKIT_INLINE_CACHE=1", "a build stores its layers in a cache"},
    {"cache_mount", "--mount[= ]\\S*type=cache\\b", "a cache outlives the build"},
    {"prompt", "\\bread\\s+(-\\w+\\s+)*-\\w*p\\b",
     "asks a question: without a terminal it hangs or takes nothing"},
}};

struct CompiledRule {
  const Rule* rule;
  std::regex pattern;
};

const std::vector<CompiledRule>& compiled_rules() {
  static const std::vector<CompiledRule> compiled = [] {
    std::vector<CompiledRule> all;
    for (const auto& rule : kRules)
      all.push_back({&rule, std::regex(rule.pattern, std::regex::icase)});
    return all;
  }();
  return compiled;
}

class CommandAudit {
 public:
  CommandAudit(const ShellCommand& command, const std::string& file, const Subject& subject,
               std::vector<Finding>& into)
      : command_(command),
        text_(command.code.text().substr(0, kMatchedLength)),
        file_(file),
        subject_(subject),
        into_(into) {}

  void run() {
    if (only_prints(command_)) return;
    const auto install = package_install(command_, subject_.target);
    look_for_wheels(install);
    look_for_compile(install);
    std::smatch match;
    for (const auto& [rule, pattern] : compiled_rules()) {
      if (std::regex_search(text_, match, pattern))
        note(rule->kind, static_cast<std::size_t>(match.position(0)), rule->message);
    }
  }

 private:
  void look_for_wheels(const std::optional<PackageInstall>& install) {
    if (install && install->keeps_wheels)
      note("prefetch", install->offset, "wheels are put together ahead of the install");
    if (install && install->takes_a_wheel)
      note("prebuilt_wheel", install->offset, "installs a wheel that was built elsewhere");
  }

  void look_for_compile(const std::optional<PackageInstall>& install) {
    if (!subject_.compile_commands) {
      if (install && install->compiles)
        note("compile", install->offset, "compiles what the scenario counts");
      return;
    }
    for (const auto& pattern : *subject_.compile_commands) {
      const auto offset = pattern.place_in(text_);
      if (!offset) continue;
      note("compile", *offset, "compiles what the scenario counts");
      return;
    }
  }

  void note(const char* kind, std::size_t offset, const char* message) {
    into_.push_back({kind, file_, command_.code.line_at(offset), command_.code.text(), message});
  }

  const ShellCommand& command_;
  const std::string text_;
  const std::string& file_;
  const Subject& subject_;
  std::vector<Finding>& into_;
};

}  // namespace

void audit_command(const ShellCommand& command, const std::string& file, const Subject& subject,
                   std::vector<Finding>& into) {
  CommandAudit(command, file, subject, into).run();
}

std::vector<Remark> remarks_on_settings(const std::string& text) {
  static const std::regex launcher("ccache|_COMPILER_LAUNCHER", std::regex::icase);
  static const std::regex wheels("PIP_FIND_LINKS|PIP_NO_INDEX", std::regex::icase);
  static const std::regex stored("BUILDKIT_INLINE_CACHE\\s*[=:]?\\s*1");
  const std::string bounded = text.substr(0, kMatchedLength);
  std::vector<Remark> remarks;
  if (std::regex_search(bounded, launcher))
    remarks.push_back({"compiler_cache", "a compiler cache is set up for what follows"});
  if (std::regex_search(bounded, wheels))
    remarks.push_back({"prefetch", "packages come from a folder of wheels"});
  if (std::regex_search(bounded, stored))
    remarks.push_back({"cache_to", "the image is to serve as a cache"});
  return remarks;
}

const std::string* forbidden_in(const std::string& text, const Subject& subject) {
  const auto found =
      std::find_if(subject.forbidden.begin(), subject.forbidden.end(),
                   [&](const std::string& one) { return text.find(one) != std::string::npos; });
  return found == subject.forbidden.end() ? nullptr : &*found;
}

bool is_cache_volume(const std::string& mount) {
  static const std::regex cache("cache|wheel", std::regex::icase);
  return std::regex_search(mount.substr(0, kMatchedLength), cache);
}

}  // namespace assay::scenarios
