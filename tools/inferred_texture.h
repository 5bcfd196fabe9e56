// A contract's part for a parameter that is a cudaTextureObject_t: how the body fetches says how
// many dimensions it has and of which type its texels are; its size is a guess. Private to
// inferred_contract.cc. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/source/preprocess.h"
#include "engine/source/signature.h"
#include "tools/element.h"

namespace assay::tools {

struct InferredTexture {
  Element element{};
  bool is_linear_memory = false;  // tex1Dfetch; else tex2D
  bool is_fetched = false;        // else nothing of this was seen
  std::string unsupported{};      // the fetch that no contract has a texture for
};

[[nodiscard]] bool is_texture_object(const source::Parameter& parameter);
[[nodiscard]] InferredTexture infer_texture(const source::Unit& unit, const source::Kernel& kernel,
                                            const std::string& name);

// `length`: of linear memory; images are 64 by 64.
[[nodiscard]] nlohmann::json texture_argument(const InferredTexture& texture,
                                              const std::string& name, const nlohmann::json& length,
                                              const nlohmann::json& init);

}  // namespace assay::tools
