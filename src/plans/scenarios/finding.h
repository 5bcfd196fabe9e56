// What an audit finds: a cache, a builder image, a compile, with the place where it is. Values; any
// thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plans/scenarios/line_pattern.h"

namespace assay::scenarios {

struct Finding {
  // cache_from, cache_to, prebuilt_image, prebuilt_wheel, builder_image, copy_from_image,
  // cache_mount, prefetch, compiler_cache, step_cached, base_image_reused, wheel_cached, prompt,
  // compile, not_audited, unreadable
  std::string kind{};
  std::string file{};
  int line = 0;           // where it stands itself, also in an instruction of several lines
  std::string text{};     // of the instruction or command
  std::string message{};  // what it means
};

// Whether it breaks "no caches and no builder images"; a compile, a prompt, a base image that was
// there already and a file that this audit does not read do not.
[[nodiscard]] bool is_violation(const Finding& finding);
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
[[nodiscard]] nlohmann::json to_json(const std::vector<Finding>& findings);

// What a scenario counts as the compile, and what it must not touch.
struct Subject {
  std::string target{};  // the package; "": any
  // In scripts and Dockerfiles, in place of builds and source installs of Python packages.
  std::optional<std::vector<LinePattern>> compile_commands{};
  std::vector<LinePattern> compile_lines{};  // in logs
  std::vector<std::string> forbidden{};      // parts of image names
};

// {compile: {commands: [regex], log: [regex], target}, workspace, forbid: [text]}. Without a target
// it is the workspace's own package; where that is not known either, a log is searched for editable
// builds only, as every install of a dependency looks alike. Throws std::invalid_argument.
[[nodiscard]] Subject subject_from(const nlohmann::json& scenario);

[[nodiscard]] bool matches_any(const std::vector<LinePattern>& patterns, const std::string& text);
// Lines of more than this are cut before a pattern sees them.
inline constexpr std::size_t kMatchedLength = 2'000;

}  // namespace assay::scenarios
