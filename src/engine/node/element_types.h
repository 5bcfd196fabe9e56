// Whether a kernel's pointers point to what the contract's tensors hold: `const double*` beside a
// float32 tensor reads two elements as one. Bits may be meant to be read as another type, so this
// is a doubt to tell, never a verdict.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::node {

struct TypeDoubt {
  std::size_t argument = 0;  // index in the contract's args
  std::string message{};
};

// `kernel` as demangled: "add(float const*, int)"; a C name has no types and is looked up in
// `source`. Types that the contract has no dtype for (structs, float4, void) are not doubted, bytes
// neither.
[[nodiscard]] std::vector<TypeDoubt> doubtful_types(const contract::Contract& contract,
                                                    std::string_view kernel,
                                                    std::string_view source);

}  // namespace assay::node
