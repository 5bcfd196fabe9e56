#include "engine/source/hidden_kernel.h"

#include "engine/source/token.h"

namespace assay::source {
namespace {

constexpr std::string_view kGlobal = "__global__";

}  // namespace

std::optional<Obstacle> hidden_kernel(std::string_view source) {
  bool is_in_head = false;
  for (const Token& token : lex(source)) {
    if (token.kind == TokenKind::directive) {
      if (token.text.find(kGlobal) != token.text.npos) {
        return Obstacle{.what = "a kernel that a macro makes", .line = token.line};
      }
      if (is_in_head) {
        return Obstacle{.what = "a kernel whose head depends on the preprocessor",
                        .line = token.line};
      }
    }
    if (token.is(kGlobal)) is_in_head = true;
    if (token.is("{") || token.is(";")) is_in_head = false;
  }
  return std::nullopt;
}

}  // namespace assay::source
