// A YAML document as a tree of our own: every value knows its line and column, and scalars stay
// text until somebody knows what they are to be, so that `chip: 910` is a name and `rtol: 1e-5` a
// number. yaml-cpp is used in yaml_value.cc only. Values; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plans/optest/problem.h"

namespace assay::optest {

struct Value {
  enum class Kind { null, scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::null;
  Place place{};
  std::string text{};      // of a scalar
  bool is_quoted = false;  // a quoted scalar is text, whatever it looks like
  std::vector<Value> items{};
  std::vector<Entry> entries;

  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  [[nodiscard]] bool is_null() const { return kind == Kind::null; }
  // Of a mapping; null if there is no such key.
  [[nodiscard]] const Value* find(const std::string& key) const;
};

struct Value::Entry {
  std::string key{};
  Place place{};
  Value value{};
};

// YAML 1.2's core schema; quoted scalars are none of these.
[[nodiscard]] std::optional<std::int64_t> as_integer(const Value& value);
[[nodiscard]] std::optional<double> as_number(const Value& value);
[[nodiscard]] std::optional<bool> as_boolean(const Value& value);
[[nodiscard]] nlohmann::json to_json(const Value& value);

// Larger documents, and ones that grow beyond this through aliases, are refused.
inline constexpr std::size_t kMaxPlanBytes = 4U << 20;
inline constexpr std::size_t kMaxPlanValues = 200'000;

// The one document of `text`. What is no YAML, and a key that occurs twice, are problems.
[[nodiscard]] Value parse_yaml(const std::string& text, Problems& problems);

// `over` laid onto `base`: mappings key by key, all else replaced.
[[nodiscard]] Value merged(const Value& base, const Value& over);

}  // namespace assay::optest
