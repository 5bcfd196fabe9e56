// What is wrong with a plan, and where: all of it is collected, so that one reading shows every
// mistake. Values; any thread.
#pragma once

#include <string>
#include <vector>

namespace assay::optest {

// 1-based; 0: no place in the file.
struct Place {
  int line = 0;
  int column = 0;
};

struct Problem {
  bool fatal = true;  // false: a warning
  Place place{};
  std::string where{};  // "cases[1].shapes[0].inputs"
  std::string message{};
};

// "plan.yaml:24:9: cases[1].shapes[0].inputs: 1 shape, but there are 2 inputs"
[[nodiscard]] std::string to_text(const Problem& problem, const std::string& file);

// The closest of `known` to a mistyped name, or "".
[[nodiscard]] std::string closest(const std::string& name, const std::vector<std::string>& known);

// Collects; the readers of a plan share one.
class Problems {
 public:
  void error(Place place, std::string where, std::string message) {
    list_.push_back({true, place, std::move(where), std::move(message)});
  }
  void warn(Place place, std::string where, std::string message) {
    list_.push_back({false, place, std::move(where), std::move(message)});
  }
  [[nodiscard]] bool fatal() const;
  [[nodiscard]] const std::vector<Problem>& list() const { return list_; }
  // In the order of the file; what is said twice of one place is said once.
  void sort();

 private:
  std::vector<Problem> list_{};
};

}  // namespace assay::optest
