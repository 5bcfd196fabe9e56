#include "engine/contract/reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "spelling/edits.h"

namespace assay::contract {
namespace {

bool contains(std::initializer_list<std::string_view> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string_view nearest(std::string_view key, std::initializer_list<std::string_view> known) {
  if (key.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, key.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    std::size_t distance = spelling::edits(key, candidate);
    // A shortened or lengthened name ("shared_mem" for "shared_mem_bytes") is meant more often than
    // not.
    if (key.size() >= 4 && (candidate.find(key) != key.npos || key.find(candidate) != key.npos)) {
      distance = std::min<std::size_t>(distance, 2);
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

// The text cut to `limit` bytes, never within a character.
std::string clipped(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
  return std::string(text.substr(0, limit)) + "…";
}

// With U+FFFD for every byte that is no UTF-8: notes end up in answers.
std::string as_text(const std::string& bytes) {
  const nlohmann::json value = bytes;
  return nlohmann::json::parse(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace

std::string Node::child_pointer(std::string_view key) const {
  std::string result = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::optional<Node> Node::member(std::string_view key) const {
  if (!json->is_object()) return std::nullopt;
  const auto found = json->find(key);
  if (found == json->end() || found->is_null()) return std::nullopt;
  return Node{.json = &*found, .pointer = child_pointer(key)};
}

Node Node::element(std::size_t index) const {
  return {.json = &(*json)[index], .pointer = pointer + "/" + std::to_string(index)};
}

void Notes::violate(const std::string& pointer, const std::string& message) {
  violations.push_back({.pointer = as_text(pointer), .message = as_text(clipped(message, 600))});
}

void Notes::warn(const std::string& pointer, const std::string& message) {
  warnings.push_back({.pointer = as_text(pointer), .message = as_text(clipped(message, 600))});
}

std::string brief(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  return clipped(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 80);
}

std::string in_quotes(std::string_view text) { return "'" + clipped(text, 80) + "'"; }

std::string shown(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

bool expect_object(const Node& node, std::string_view what, Notes& notes) {
  if (node.json->is_object()) return true;
  notes.violate(node.pointer, std::string(what) + " must be an object, not " + brief(*node.json));
  return false;
}

bool expect_array(const Node& node, std::string_view what, std::size_t max_size, Notes& notes) {
  if (!node.json->is_array()) {
    notes.violate(node.pointer, std::string(what) + " must be an array, not " + brief(*node.json));
    return false;
  }
  if (node.json->size() <= max_size) return true;
  notes.violate(node.pointer, std::string(what) + " has " + std::to_string(node.json->size()) +
                                  " entries, at most " + std::to_string(max_size) + " are allowed");
  return false;
}

std::optional<std::string> read_string(const Node& node, std::string_view what, Notes& notes) {
  if (node.json->is_string()) return node.json->get<std::string>();
  notes.violate(node.pointer, std::string(what) + " must be a string, not " + brief(*node.json));
  return std::nullopt;
}

std::optional<bool> read_bool(const Node& node, std::string_view what, Notes& notes) {
  if (node.json->is_boolean()) return node.json->get<bool>();
  notes.violate(node.pointer,
                std::string(what) + " must be true or false, not " + brief(*node.json));
  return std::nullopt;
}

std::optional<Number> read_number(const Node& node, std::string_view what, Notes& notes) {
  const nlohmann::json& value = *node.json;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float() && std::isfinite(value.get<double>())) return value.get<double>();
  notes.violate(node.pointer, std::string(what) + " must be a finite number, not " + brief(value));
  return std::nullopt;
}

std::optional<double> read_finite(const Node& node, std::string_view what, Notes& notes) {
  const auto number = read_number(node, what, notes);
  if (!number) return std::nullopt;
  return to_double(*number);
}

std::optional<double> parse_non_finite(std::string_view text) {
  std::string lower;
  for (const char c : text.substr(0, 16)) {
    lower += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf" || lower == "+inf" || lower == "infinity" || lower == "+infinity")
    return kInfinity;
  if (lower == "-inf" || lower == "-infinity") return -kInfinity;
  return std::nullopt;
}

void warn_unknown_keys(const Node& object, const KnownKeys& known, Notes& notes) {
  for (const auto& [key, value] : object.json->items()) {
    if (contains(known.here, key) || contains(known.silent, key)) continue;
    std::string message = "unknown key " + in_quotes(key) + " is ignored";
    if (contains(known.elsewhere, key)) {
      message += "; it belongs inside " + std::string(known.elsewhere_in);
    } else if (const std::string_view meant = nearest(key, known.here); !meant.empty()) {
      message += "; did you mean " + in_quotes(meant) + "?";
    }
    notes.warn(object.child_pointer(key), message);
  }
}

}  // namespace assay::contract
