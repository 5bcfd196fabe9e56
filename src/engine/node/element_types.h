// Whether a kernel takes what the contract gives. `const double*` beside a float32 tensor reads two
// elements as one: bits may be meant to be read as another type, so that is a doubt to tell, never
// a verdict. A number where a pointer is taken is a mistake.
//
// Pure; any thread.
#pragma once

#include <optional>
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

// A scalar where the kernel takes a pointer, or a tensor where it takes a plain number: no reading
// of the same bits makes sense of that. 0 for a pointer is the null pointer, which may be meant.
[[nodiscard]] std::vector<TypeDoubt> mistaken_kinds(const contract::Contract& contract,
                                                    std::string_view kernel,
                                                    std::string_view source);

// Rounds the scalars of `to`, which has the arguments of `contract` in order, to what `kernel`
// takes them in: 0.1 for a float is not 0.1 for a double.
void round_scalars(const contract::Contract& contract, std::string_view kernel,
                   std::string_view source, contract::Contract& to);

// Why `kernel`, whose floats have become doubles, would read the tensors of `contract` as something
// else once those are widened: bytes, integers, or a type that nothing is known of. Nothing if it
// takes each as it is then.
[[nodiscard]] std::optional<std::string> misread_in_double(const contract::Contract& contract,
                                                           std::string_view kernel,
                                                           std::string_view source);

}  // namespace assay::node
