#include "engine/node/python_package.h"

#include <nlohmann/json.hpp>
#include <string_view>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_python_package.inc"
#undef FILE
}

namespace assay::node {
namespace {

struct Embedded {
  std::string_view name{};
  std::string_view text{};
};

const Embedded kFiles[] = {
#define FILE(name, symbol) {name, {symbol, static_cast<std::size_t>(symbol##_end - symbol)}},
#include "embedded_assay_python_package.inc"
#undef FILE
    // NOLINTEND(bugprone-macro-parentheses)
};

constexpr std::string_view kBootstrap = "bootstrap.py";

}  // namespace

std::string python_bootstrap() {
  for (const auto& file : kFiles) {
    if (file.name == kBootstrap) return std::string(file.text);
  }
  return {};
}

std::string python_package() {
  nlohmann::json texts = nlohmann::json::object();
  for (const auto& file : kFiles) {
    if (file.name == kBootstrap) continue;
    const std::string stem(file.name.substr(0, file.name.size() - 3));
    texts[stem == "__init__" ? "assay_runner" : "assay_runner." + stem] = std::string(file.text);
  }
  return texts.dump();
}

}  // namespace assay::node
