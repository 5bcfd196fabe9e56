#include "plans/optest/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <set>

#include "plans/lower_case.h"

namespace assay::optest {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& one) { return contains(b, one); });
}

bool wants_backend(const Backend& backend, const Choice& choice) {
  if (choice.backend && *choice.backend != backend.type) return false;
  return !choice.chip || plans::lower_case(*choice.chip) == plans::lower_case(backend.chip);
}

bool wants_case(const Case& one, const Choice& choice) {
  const auto matches = [&](const std::string& pattern) { return glob_matches(pattern, one.name); };
  if (!choice.cases.empty() && std::none_of(choice.cases.begin(), choice.cases.end(), matches)) {
    return false;
  }
  if (!choice.tags.empty() && !overlap(one.tags, choice.tags)) return false;
  if (overlap(one.tags, choice.skip_tags)) return false;
  return !choice.priority_max || !one.priority || *one.priority <= *choice.priority_max;
}

bool go_together(const Backend& backend, const Case& one) {
  if (!backend.only_cases.empty() && !contains(backend.only_cases, one.name)) return false;
  if (contains(backend.skip_cases, one.name)) return false;
  if (!one.only.empty() && !contains(one.only, backend.type)) return false;
  return !contains(one.skip, backend.type);
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace

bool glob_matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<Run> select_runs(const Plan& plan, const Choice& choice) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    if (wants_case(plan.cases[i], choice)) order.push_back(i);
  }
  const auto rank = [&](std::size_t i) {
    return plan.cases[i].priority.value_or(std::numeric_limits<std::int64_t>::max());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::vector<Run> runs;
  for (const std::size_t which : order) {
    const Case& one = plan.cases[which];
    for (std::size_t b = 0; b < plan.backends.size(); ++b) {
      const Backend& backend = plan.backends[b];
      if (!wants_backend(backend, choice) || !go_together(backend, one)) continue;
      const bool xfail =
          contains(one.xfail, backend.type) || contains(backend.xfail_cases, one.name);
      for (std::size_t s = 0; s < one.shapes.size(); ++s) {
        std::string id =
            one.name + "@" + backend.type + ":" + backend.chip + "/shape" + std::to_string(s);
        if (!choice.only.empty() && choice.only != id) continue;
        runs.push_back(
            {.backend = b, .which = which, .shape = s, .id = std::move(id), .xfail = xfail});
      }
    }
  }
  return runs;
}

std::string nothing_selected(const Plan& plan, const Choice& choice) {
  std::set<std::string> backends;
  std::set<std::string> cases;
  std::set<std::string> tags;
  bool any_backend = false;
  for (const auto& backend : plan.backends) {
    backends.insert(backend.type + ":" + backend.chip);
    any_backend = any_backend || wants_backend(backend, choice);
  }
  for (const auto& one : plan.cases) {
    cases.insert(one.name);
    tags.insert(one.tags.begin(), one.tags.end());
  }
  if (!any_backend) {
    return "No backend of the plan is " + choice.backend.value_or("any type") + ":" +
           choice.chip.value_or("any chip") + "; there are: " + joined(backends) + ".";
  }
  return "No case matches. Cases: " + joined(cases) + ". Tags: " + joined(tags) +
         ". Backends: " + joined(backends) + ".";
}

}  // namespace assay::optest
