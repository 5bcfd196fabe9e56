#include "engine/source/torch_headers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/source/token.h"

namespace assay::source {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Compiled ahead, in so far as nothing of kParts is named.
constexpr std::array<std::string_view, 6> kForEverything{"torch/extension.h", "torch/torch.h",
                                                         "torch/all.h",       "torch/types.h",
                                                         "torch/python.h",    "ATen/ATen.h"};
constexpr std::array<std::string_view, 4> kFolders{"torch/", "ATen/", "c10/", "pybind11/"};
// What a toolkit without CUDA's compiler, or a torch without CUDA, cannot have.
constexpr std::array<std::string_view, 9> kOfDevices{
    "/cuda/", "/cudnn/", "/hip/", "/miopen/", "/xpu/", "/mps/", "/metal/", "/cuda.h", ".cuh"};

// By what follows `torch::`, or stands before `::` itself.
constexpr std::array<Pair, 8> kSpaces{{{"nn", "torch/nn.h"},
                                       {"optim", "torch/optim.h"},
                                       {"jit", "torch/jit.h"},
                                       {"autograd", "torch/autograd.h"},
                                       {"fft", "torch/fft.h"},
                                       {"special", "torch/special.h"},
                                       {"sparse", "torch/sparse.h"},
                                       {"nested", "torch/nested.h"}}};
constexpr std::array<Pair, 12> kOfTorch{{{"data", "torch/data.h"},
                                         {"save", "torch/serialize.h"},
                                         {"load", "torch/serialize.h"},
                                         {"serialize", "torch/serialize.h"},
                                         {"pickle_save", "torch/serialize.h"},
                                         {"pickle_load", "torch/serialize.h"},
                                         {"print", "torch/print.h"},
                                         {"NoGradGuard", "torch/utils.h"},
                                         {"AutoGradMode", "torch/utils.h"},
                                         {"manual_seed", "torch/utils.h"},
                                         {"init_num_threads", "torch/utils.h"},
                                         {"enumtype", "torch/enum.h"}}};
// With any qualification, or none.
constexpr std::array<Pair, 6> kWords{{{"parallel_for", "ATen/Parallel.h"},
                                      {"parallel_reduce", "ATen/Parallel.h"},
                                      {"in_parallel_region", "ATen/Parallel.h"},
                                      {"get_num_threads", "ATen/Parallel.h"},
                                      {"set_num_threads", "ATen/Parallel.h"},
                                      {"get_thread_num", "ATen/Parallel.h"}}};
// As on_cpu.h has them.
constexpr std::array<std::string_view, 4> kRenamed{"is_cuda", "kCUDA", "CUDA", "cuda"};

template <std::size_t N>
std::string_view header_of(const std::array<Pair, N>& table, std::string_view word) {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [&](const Pair& pair) { return pair.first == word; });
  return found == table.end() ? std::string_view{} : found->second;
}

// Of `#include <ATen/Parallel.h>`; nothing of one that is compiled ahead or is not torch's.
std::string_view included(std::string_view directive) {
  const auto open = directive.find_first_of("<\"");
  if (open == std::string_view::npos) return {};
  const auto close = directive.find_first_of(">\"", open + 1);
  if (close == std::string_view::npos) return {};
  const std::string_view header = directive.substr(open + 1, close - open - 1);
  const auto is_in = [&](std::string_view part) { return header.find(part) != header.npos; };
  const bool is_torchs = std::any_of(kFolders.begin(), kFolders.end(),
                                     [&](std::string_view one) { return header.starts_with(one); });
  const bool is_plain = std::all_of(header.begin(), header.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  });
  const bool is_ahead =
      std::find(kForEverything.begin(), kForEverything.end(), header) != kForEverything.end();
  const bool is_device = std::any_of(kOfDevices.begin(), kOfDevices.end(), is_in);
  return is_torchs && is_plain && !is_ahead && !is_device && !is_in("..") ? header
                                                                          : std::string_view{};
}

class Headers {
 public:
  void read(const Tokens& tokens) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (tokens[at].kind == TokenKind::directive) {
        directive(tokens[at]);
      } else if (tokens[at].kind == TokenKind::identifier) {
        word(tokens, at);
      }
    }
  }
  std::vector<std::string> take() { return std::move(headers_); }

 private:
  void directive(const Token& token) {
    const Tokens words = lex(token.text.substr(1));
    if (words.empty()) return;
    if (words[0].is("include")) add(included(token.text));
    if (words[0].is("define")) read(words);
  }

  void word(const Tokens& tokens, std::size_t at) {
    const std::string_view text = tokens[at].text;
    const bool is_inner = at > 0 && tokens[at - 1].is("::");
    const bool is_of_torch = is_inner && at > 1 && tokens[at - 2].is("torch");
    const bool is_space = at + 1 < tokens.size() && tokens[at + 1].is("::") && !is_inner;
    if (is_of_torch || is_space) add(header_of(kSpaces, text));
    if (is_of_torch) add(header_of(kOfTorch, text));
    add(header_of(kWords, text));
  }

  void add(std::string_view header) {
    constexpr std::size_t kMostHeaders = 200;
    if (header.empty() || headers_.size() >= kMostHeaders) return;
    if (std::find(headers_.begin(), headers_.end(), header) != headers_.end()) return;
    headers_.emplace_back(header);
  }

  std::vector<std::string> headers_{};
};

}  // namespace

std::vector<std::string> torch_headers(std::string_view source) {
  Headers headers;
  headers.read(lex(source));
  return headers.take();
}

std::string torch_prelude(std::string_view source) {
  const auto headers = torch_headers(source);
  if (headers.empty()) return {};
  const auto renamed = [](const std::string& directive, const std::string& begin,
                          const std::string& end) {
    std::string lines;
    for (const auto word : kRenamed) lines += directive + begin + std::string(word) + end + "\n";
    return lines;
  };
  std::string text = renamed("#pragma push_macro", "(\"", "\")") + renamed("#undef", " ", "");
  for (const auto& header : headers) {
    text += "#if __has_include(<" + header + ">)\n#include <" + header + ">\n#endif\n";
  }
  return text + renamed("#pragma pop_macro", "(\"", "\")");
}

}  // namespace assay::source
