// A `__global__` function as the host half has it: where its head and its body lie, and the body
// that launches it. Views borrow the tokens' source. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/source/token.h"

namespace assay::source {

struct KernelStub {
  std::size_t end = 0;                 // index behind its last token
  std::size_t body = 0;                // of its '{'; `end` for a declaration
  std::vector<Range> attributes{};     // token ranges that a host compiler must not see
  std::vector<std::size_t> unnamed{};  // tokens before which a parameter's name is missing
  std::string name{};                  // "ops::scale"; "" of "scale<float>", which is one alone
  std::string text{};                  // of the body: "{ … }"
  std::string overloaded{};            // likewise where others have its name
  bool is_instance = false;            // template void k<float>(…): nothing for the host
};

// The one whose head begins at `begin`. `scope`: "ops::" or "". Nothing: it cannot be read.
[[nodiscard]] std::optional<KernelStub> kernel_stub(const Tokens& tokens,
                                                    const std::vector<std::size_t>& partners,
                                                    std::size_t begin, const std::string& scope);

}  // namespace assay::source
