// texture(linear, wrap, mirror, normalized_coords, normalized_float, channels=4) of compact text,
// in any order: which member a word is of is said by the word. Private to compact_reading.cc.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/contract/compact_words.h"

namespace assay::contract::compact {

struct TextureWords {
  nlohmann::json document = nlohmann::json::object();  // for parse(), which checks it
  std::vector<std::string> complaints{};
};

[[nodiscard]] TextureWords texture_of(const Call& call);

}  // namespace assay::contract::compact
