// JSON with comments and trailing commas, as devcontainer.json is written, with the line of every
// member. Pure; any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

namespace assay::scenarios {

struct Jsonc {
  nlohmann::json document{};
  std::map<std::string, int> lines{};  // by JSON pointer, 1-based
};

struct JsoncFault {
  int line = 0;
  std::string message{};
};

[[nodiscard]] std::variant<Jsonc, JsoncFault> parse_jsonc(const std::string& text);

}  // namespace assay::scenarios
