#include "engine/contract/compact_texture.h"

#include "engine/contract/texture.h"

namespace assay::contract::compact {
namespace {

using nlohmann::json;

// The member that a word is a value of; "" if it is none's. Addresses are a list: of x, of y.
std::string member_of(std::string_view word) {
  if (parse_texture_filter(word)) return "filter";
  if (parse_texture_read(word)) return "read";
  if (parse_texture_address(word)) return "address";
  return word == "normalized_coords" ? "normalized_coords" : "";
}

}  // namespace

TextureWords texture_of(const Call& call) {
  TextureWords out;
  const auto put = [&](const std::string& key, json value) {
    if (out.document.contains(key)) {
      out.complaints.push_back(key + " is given twice");
    } else {
      out.document[key] = std::move(value);
    }
  };
  for (const auto word : call.positional) {
    const std::string key = member_of(word);
    if (key.empty()) {
      out.complaints.push_back("unknown \"" + std::string(word.substr(0, 60)) +
                               "\" of a texture; known are point, linear, clamp, border, wrap, "
                               "mirror, normalized_coords, element, normalized_float, channels=");
    } else if (key == "address") {
      out.document[key].push_back(std::string(word));
    } else {
      put(key, key == "normalized_coords" ? json(true) : json(std::string(word)));
    }
  }
  for (const auto& [key, text] : call.named) {
    const json value = json::parse(text, nullptr, false);
    put(std::string(key),
        !value.is_discarded() && value.is_primitive() ? value : json(std::string(text)));
  }
  return out;
}

}  // namespace assay::contract::compact
