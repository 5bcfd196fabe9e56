// What an audit finds: a cache, a builder image, a compile, with the place where it is. Values; any
// thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plans/scenarios/line_pattern.h"

namespace assay::scenarios {

struct Finding {
  // cache_from, cache_to, prebuilt_image, builder_image, copy_from_image, cache_mount, prefetch,
  // compiler_cache, step_cached, base_image_reused, wheel_cached, prompt, compile
  std::string kind{};
  std::string file{};
  int line = 0;
  std::string text{};     // of the line, as it stands
  std::string message{};  // what it means
};

// Whether it breaks "no caches and no builder images"; a compile, a prompt and a base image that
// was there already do not.
[[nodiscard]] bool is_violation(const Finding& finding);
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
[[nodiscard]] nlohmann::json to_json(const std::vector<Finding>& findings);

// What a scenario counts as the compile, and what it must not touch.
struct Subject {
  std::vector<LinePattern> compile_commands{};  // in scripts and Dockerfiles
  std::vector<LinePattern> compile_lines{};     // in logs
  std::vector<std::string> forbidden{};         // parts of image names
};

// {compile: {commands: [regex], log: [regex], target}, forbid: [text]}; what is absent is for
// editable installs of Python packages. Throws std::invalid_argument.
[[nodiscard]] Subject subject_from(const nlohmann::json& scenario);

[[nodiscard]] bool matches_any(const std::vector<LinePattern>& patterns, const std::string& text);
// Lines of more than this are cut before a pattern sees them.
inline constexpr std::size_t kMatchedLength = 2'000;

}  // namespace assay::scenarios
