// Contracts as this folder's tests read them: what must be readable is required to be.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "engine/contract/compact.h"
#include "tests/catch.h"

namespace assay::contract {

using nlohmann::json;

inline Contract parsed(const json& document) {
  const auto result = parse(document);
  if (const auto* refused = std::get_if<Refused>(&result)) {
    for (const auto& violation : refused->violations)
      UNSCOPED_INFO(violation.pointer + ": " + violation.message);
  }
  INFO(document.dump());
  REQUIRE(std::holds_alternative<Parsed>(result));
  return std::get<Parsed>(result).contract;
}

inline Contract from_text(const std::string& text) {
  INFO(text);
  const auto result = from_compact(text);
  if (const auto* errors = std::get_if<std::vector<CompactError>>(&result)) {
    for (const auto& error : *errors)
      UNSCOPED_INFO(std::to_string(error.line) + ": " + error.message);
  }
  REQUIRE(std::holds_alternative<json>(result));
  return parsed(std::get<json>(result));
}

inline std::vector<CompactError> errors_of(const std::string& text) {
  const auto result = from_compact(text);
  const auto* errors = std::get_if<std::vector<CompactError>>(&result);
  return errors != nullptr ? *errors : std::vector<CompactError>{};
}

}  // namespace assay::contract
