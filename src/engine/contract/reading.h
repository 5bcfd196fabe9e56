// Reading a JSON document member by member while collecting everything that is wrong with it, each
// with its pointer. Private to this room.
//
// A Node borrows the document; Notes belongs to one parse on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

// A value of the document and where it stands.
struct Node {
  const nlohmann::json* json = nullptr;
  std::string pointer{};

  // Nothing if the member is missing or null, or this is no object.
  [[nodiscard]] std::optional<Node> member(std::string_view key) const;
  [[nodiscard]] Node element(std::size_t index) const;  // REQUIRES an array of more than `index`
  [[nodiscard]] std::string child_pointer(std::string_view key) const;
};

// What was noted so far; messages are cut to 600 bytes and made valid UTF-8.
struct Notes {
  std::vector<Violation> violations{};
  std::vector<Violation> warnings{};
  void violate(const std::string& pointer, const std::string& message);
  void warn(const std::string& pointer, const std::string& message);
};

// A value as it is named in a message: short, valid UTF-8.
[[nodiscard]] std::string brief(const nlohmann::json& value);
[[nodiscard]] std::string in_quotes(std::string_view text);
[[nodiscard]] std::string shown(double value);

// Each gives nothing after having noted a violation. `what` names the value in the message.
[[nodiscard]] bool expect_object(const Node& node, std::string_view what, Notes& notes);
[[nodiscard]] bool expect_array(const Node& node, std::string_view what, std::size_t max_size,
                                Notes& notes);
[[nodiscard]] std::optional<std::string> read_string(const Node& node, std::string_view what,
                                                     Notes& notes);
[[nodiscard]] std::optional<bool> read_bool(const Node& node, std::string_view what, Notes& notes);
[[nodiscard]] std::optional<Number> read_number(const Node& node, std::string_view what,
                                                Notes& notes);
[[nodiscard]] std::optional<double> read_finite(const Node& node, std::string_view what,
                                                Notes& notes);

// "nan", "inf", "-inf" and their usual other spellings, in any case.
[[nodiscard]] std::optional<double> parse_non_finite(std::string_view text);

// Warns of members that are not known, with the likely intended one. `elsewhere` are keys which are
// known in the member `elsewhere_in` of the same object; `silent` are accepted without a word.
struct KnownKeys {
  std::initializer_list<std::string_view> here{};
  std::initializer_list<std::string_view> elsewhere{};
  std::string_view elsewhere_in{};
  std::initializer_list<std::string_view> silent{};
};
void warn_unknown_keys(const Node& object, const KnownKeys& known, Notes& notes);

}  // namespace assay::contract
