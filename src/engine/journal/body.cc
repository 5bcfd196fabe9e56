#include "engine/journal/body.h"

#include <stdexcept>
#include <utility>
#include <vector>

namespace assay::journal {
namespace {

using nlohmann::json;

constexpr std::size_t kSummaryBytes = 4096;

bool too_deep(const json& body) {
  std::vector<std::pair<const json*, std::size_t>> open{{&body, 0}};
  while (!open.empty()) {
    const auto [value, depth] = open.back();
    open.pop_back();
    if (!value->is_structured()) continue;
    if (depth == kMaxBodyDepth) return true;
    for (const auto& inner : *value) {
      if (inner.is_structured()) open.emplace_back(&inner, depth + 1);
    }
  }
  return false;
}

std::string dump(const json& body) {
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string text_of(const json& body, std::size_t max_bytes, const std::string& what) {
  if (too_deep(body)) {
    throw std::invalid_argument(what + " nests deeper than " + std::to_string(kMaxBodyDepth));
  }
  std::string text = dump(body);
  if (text.size() > max_bytes) {
    throw std::invalid_argument(what + " has " + std::to_string(text.size()) +
                                " bytes: large things are artifacts");
  }
  return text;
}

std::string conclusion_text(const json& conclusion, std::size_t max_bytes) {
  try {
    return text_of(conclusion, max_bytes, "the conclusion");
  } catch (const std::invalid_argument& error) {
    json cut = {{"truncated", error.what()}};
    if (conclusion.is_object() && conclusion.contains("summary") &&
        conclusion.at("summary").is_string()) {
      cut["summary"] =
          conclusion.at("summary").get_ref<const std::string&>().substr(0, kSummaryBytes);
    }
    return dump(cut);
  }
}

json body_from(const std::string& text) {
  json body = json::parse(text, nullptr, false);
  return body.is_object() ? body : json::object();
}

}  // namespace assay::journal
