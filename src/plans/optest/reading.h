// Reads the values of a plan and notes what is wrong with each, with its place. Private to this
// room; used by one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plans/optest/yaml_value.h"

namespace assay::optest {

class Reading {
 public:
  explicit Reading(Problems& problems) : problems_(problems) {}

  [[nodiscard]] Problems& problems() { return problems_; }

  // Unknown keys are warnings with a suggestion. False (and a problem) if it is no mapping.
  bool is_mapping(const Value& value, const std::string& where,
                  const std::vector<std::string>& known);

  // A scalar as it is written, numbers too: `chip: 910`. Nothing if absent or no scalar.
  std::optional<std::string> text(const Value& mapping, const std::string& where,
                                  const std::string& key);
  std::string required_text(const Value& mapping, const std::string& where, const std::string& key);
  std::optional<std::int64_t> integer(const Value& mapping, const std::string& where,
                                      const std::string& key, std::int64_t least,
                                      std::int64_t most);
  // Finite and not negative.
  std::optional<double> amount(const Value& mapping, const std::string& where,
                               const std::string& key);
  std::vector<std::string> texts(const Value& mapping, const std::string& where,
                                 const std::string& key);
  std::map<std::string, std::string> text_map(const Value& mapping, const std::string& where,
                                              const std::string& key);
  nlohmann::json object(const Value& mapping, const std::string& where, const std::string& key);

 private:
  const Value* given(const Value& mapping, const std::string& key) const;
  void want(const Value& value, const std::string& where, const std::string& what);

  Problems& problems_;
};

[[nodiscard]] inline std::string below(const std::string& where, const std::string& key) {
  return where.empty() ? key : where + "." + key;
}
[[nodiscard]] inline std::string at(const std::string& where, std::size_t index) {
  return where + "[" + std::to_string(index) + "]";
}

}  // namespace assay::optest
