// Which runs of a plan are asked for. A run is a backend, a case and one of its shapes. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plans/optest/plan.h"

namespace assay::optest {

struct Choice {
  std::optional<std::string> backend{};  // type
  std::optional<std::string> chip{};     // letter case aside
  std::vector<std::string> cases{};      // globs, case-sensitive, one must match
  std::vector<std::string> tags{};       // one must be there
  std::vector<std::string> skip_tags{};  // none may be there
  std::optional<std::int64_t> priority_max{};
  std::string only{};  // the id of one run; "": any
};

struct Run {
  std::size_t backend = 0;
  std::size_t which = 0;  // of the cases
  std::size_t shape = 0;
  std::string id{};  // "case@type:chip/shape0"
  bool xfail = false;
};

// In the order they run: lower priority numbers first, cases without one last, else as written.
[[nodiscard]] std::vector<Run> select_runs(const Plan& plan, const Choice& choice);

// Why nothing was selected: what there is to choose from.
[[nodiscard]] std::string nothing_selected(const Plan& plan, const Choice& choice);

// Shell globs: *, ?, [a-z], [!a-z].
[[nodiscard]] bool glob_matches(const std::string& pattern, const std::string& name);

}  // namespace assay::optest
