// The named sizes of a contract and every place where a size may be a number or an expression over
// them. Private to this room.
//
// Borrows the document; one parse on one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/contract/expression.h"
#include "engine/contract/reading.h"

namespace assay::contract {

class Sizes {
 public:
  // Names are the members of `sizes` and the "int" arguments of `args`; a size wins over an
  // argument of the same name, so that {"name": "n", "type": "int", "value": "n"} passes the size
  // n.
  Sizes(const Node& contract, Notes& notes);
  Sizes(const Sizes&) = delete;
  Sizes& operator=(const Sizes&) = delete;

  // An integer, or the value of an expression; else a violation.
  [[nodiscard]] std::optional<std::int64_t> resolve(const Node& node, std::string_view what,
                                                    Notes& notes);

  // Whether this is an expression, sound but for names that nobody has defined.
  [[nodiscard]] bool leaves_open(const Node& node);

  // The members of `sizes`, those that have a value.
  [[nodiscard]] std::map<std::string, std::int64_t> named();

 private:
  void define_by(const nlohmann::json& arg);
  ExpressionResult value_of(std::string_view name);
  ExpressionResult value_of(const nlohmann::json& definition);

  std::map<std::string, const nlohmann::json*, std::less<>> definitions_{};
  std::map<std::string, ExpressionResult, std::less<>> known_{};
  std::set<std::string, std::less<>> in_progress_{};
  std::map<std::string, std::int64_t> named_{};
};

// The integer of a JSON number: integers, and floats that are whole (1024.0). Nothing beyond 64
// bits.
[[nodiscard]] std::optional<std::int64_t> whole_number(const nlohmann::json& value);

}  // namespace assay::contract
