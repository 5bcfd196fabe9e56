// Are stated requirements well formed? A bound that is none and an unknown name are mistakes of who
// wrote them, told before anything runs; only what is well formed can be missing on a machine.
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::plans {

struct MalformedRequirement {
  std::string key{};
  std::string message{};
};

// Of the object that check_requirements() takes; none if all of it can be asked.
[[nodiscard]] std::vector<MalformedRequirement> malformed_requirements(const nlohmann::json& needs);

}  // namespace assay::plans
