#include "engine/source/torch_name.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engine/source/preprocess.h"
#include "engine/source/word_list.h"

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 3> kNamespaces{"torch", "at", "c10"};
// Macros and functions of its headers that kernels use.
constexpr std::array<std::string_view, 12> kWords{
    "CUDA_KERNEL_LOOP", "CUDA_KERNEL_LOOP_TYPE", "CUDA_NUM_THREADS", "GET_BLOCKS",
    "gpuAtomicAdd",     "gpuAtomicAddNoReturn",  "gpuAtomicMax",     "gpuAtomicMin",
    "gpuAtomicMul",     "fastAtomicAdd",         "WARP_SHFL_DOWN",   "WARP_SHFL_XOR"};
constexpr std::array<std::string_view, 4> kPrefixes{"C10_", "AT_", "TORCH_", "CUDA_KERNEL_ASSERT"};
// Templates that `using namespace` brings in.
constexpr std::array<std::string_view, 6> kTemplates{"PackedTensorAccessor32",
                                                     "PackedTensorAccessor64",
                                                     "PackedTensorAccessor",
                                                     "TensorAccessor",
                                                     "acc_type",
                                                     "opmath_type"};
// A function's name behind any other word is declared there.
constexpr std::array<std::string_view, 3> kBeforeCall{"return", "else", "do"};

class Search {
 public:
  explicit Search(const Tokens& tokens) : tokens_(tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (declares(tokens[i - 1], tokens[i].text)) own_.insert(tokens[i].text);
    }
  }

  [[nodiscard]] std::optional<Obstacle> first() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != TokenKind::identifier) continue;
      if (std::string name = name_at(i); !name.empty()) {
        return Obstacle{.what = std::move(name), .line = tokens_[i].line};
      }
    }
    return std::nullopt;
  }

 private:
  static bool declares(const Token& before, std::string_view word) {
    if (is_one_of(word, kNamespaces)) return before.is("namespace");
    if (is_one_of(word, kTemplates)) {
      return before.is("struct") || before.is("class") || before.is("using");
    }
    return is_one_of(word, kWords) && before.kind == TokenKind::identifier &&
           !is_one_of(before.text, kBeforeCall);
  }

  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  [[nodiscard]] std::string name_at(std::size_t at) const {
    const std::string_view word = tokens_[at].text;
    const bool is_member = at > 0 && (is(at - 1, ".") || is(at - 1, "->"));
    if (is_member || own_.contains(word)) return {};
    if (is_one_of(word, kNamespaces)) return is(at + 1, "::") ? qualified(at) : std::string();
    const bool is_prefixed = std::any_of(
        kPrefixes.begin(), kPrefixes.end(),
        [&](std::string_view prefix) { return word.substr(0, prefix.size()) == prefix; });
    const bool is_template = is_one_of(word, kTemplates) && is(at + 1, "<");
    return is_prefixed || is_template || is_one_of(word, kWords) ? std::string(word)
                                                                 : std::string();
  }

  // Nothing of a namespace within one of the source's own: "mine::at::x".
  [[nodiscard]] std::string qualified(std::size_t at) const {
    const bool is_inner =
        at > 1 && is(at - 1, "::") && tokens_[at - 2].kind == TokenKind::identifier;
    if (is_inner) return {};
    std::string name(tokens_[at].text);
    for (std::size_t i = at + 1; is(i, "::") && i + 1 < tokens_.size(); i += 2) {
      if (tokens_[i + 1].kind != TokenKind::identifier) break;
      name += "::" + std::string(tokens_[i + 1].text);
    }
    return name;
  }

  const Tokens& tokens_;
  std::set<std::string_view> own_{};  // "namespace at", "void gpuAtomicAdd", "struct acc_type"
};

}  // namespace

std::optional<Obstacle> torch_name(std::string_view device_code) {
  const Unit unit = preprocess(device_code);
  return Search(unit.tokens).first();
}

}  // namespace assay::source
