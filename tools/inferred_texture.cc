#include "tools/inferred_texture.h"

namespace assay::tools {
namespace {

using nlohmann::json;

constexpr int kGuessedExtent = 64;

bool is_fetch(std::string_view word) {
  if (word.substr(0, 3) != "tex" || word.size() < 5) return false;
  return (word[3] >= '1' && word[3] <= '3') || word.substr(3, 7) == "Cubemap";
}

}  // namespace

bool is_texture_object(const source::Parameter& parameter) {
  return !parameter.is_pointer() && parameter.type == "cudaTextureObject_t";
}

InferredTexture infer_texture(const source::Unit& unit, const source::Kernel& kernel,
                              const std::string& name) {
  InferredTexture out;
  const source::Tokens& tokens = unit.tokens;
  for (std::size_t i = kernel.body.begin; i + 3 < kernel.body.end; ++i) {
    if (!is_fetch(tokens[i].text)) continue;
    std::size_t open = i + 1;
    std::string type = "float";
    if (tokens[open].is("<")) {
      const std::size_t close = source::closing_angle(tokens, open, kernel.body.end);
      if (close + 2 >= kernel.body.end) continue;
      type.clear();
      for (std::size_t t = open + 1; t < close; ++t) {
        type += (type.empty() ? "" : " ") + std::string(tokens[t].text);
      }
      open = close + 1;
    }
    if (!tokens[open].is("(") || !tokens[open + 1].is(name)) continue;
    const std::string_view fetch = tokens[i].text;
    out.is_fetched = true;
    out.is_linear_memory = fetch == "tex1Dfetch";
    if (!out.is_linear_memory && fetch != "tex2D" && fetch != "tex2DLod") out.unsupported = fetch;
    if (const auto element = element_of(type)) out.element = *element;
    return out;
  }
  return out;
}

json texture_argument(const InferredTexture& texture, const std::string& name, const json& length,
                      const json& init) {
  json shape = texture.is_linear_memory ? json::array({length})
                                        : json::array({kGuessedExtent, kGuessedExtent});
  json words = json::object();
  if (texture.element.width > 1) {
    shape.push_back(texture.element.width);
    words["channels"] = texture.element.width;
  }
  return {{"name", name},
          {"type", "tensor"},
          {"role", "input"},
          {"tensor_spec",
           {{"shape", std::move(shape)},
            {"dtype", contract::name(texture.element.dtype)},
            {"init", init}}},
          {"texture", std::move(words)}};
}

}  // namespace assay::tools
