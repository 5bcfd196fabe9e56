// Where host code launches its kernels, by reading alone: kernel<<<grid, block, shared,
// stream>>>(…), cudaLaunchKernel(…) and its like, and the names those expressions use (dim3
// grid(…), const int threads = 256), so that a contract can be proposed from them. Works on whole
// files, headers unread.
//
// Values own their text. Pure; any thread; no text crashes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/preprocess.h"

namespace assay::source {

struct Launch {
  std::string kernel{};  // "ops::reduce"
  std::vector<std::string> template_arguments{};
  std::string grid{};  // as spelled: "blocks", "dim3(8, 8)", "(n + 255) / 256"
  std::string block{};
  std::string shared_bytes{};  // "" if not given
  std::string stream{};
  std::vector<std::string> arguments{};
  // Names that were given a value before this launch, nearest last value: "blocks" → "(n + 255) /
  // 256".
  std::map<std::string, std::string, std::less<>> values{};
  std::size_t line = 1;
  std::size_t at = 0;  // the kernel's name in the unit's tokens

  // "reduce<float, 256>", as NVRTC takes it.
  [[nodiscard]] std::string instance() const;
};

// Where "ns::kernel<float>" begins that ends before index `end`; `angle` is its '<', or `end`.
struct Callee {
  std::size_t begin = 0;
  std::size_t angle = 0;
  bool found = false;
};
[[nodiscard]] Callee callee_before(const Tokens& tokens, std::size_t end);
// Index of the first of three '>' that end the configuration begun at `open`; end of tokens if
// none.
[[nodiscard]] std::size_t end_of_configuration(const Tokens& tokens, std::size_t open);

[[nodiscard]] std::vector<Launch> launches(std::string_view source);
[[nodiscard]] std::vector<Launch> find_launches(const Unit& unit);

}  // namespace assay::source
