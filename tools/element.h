// Between a parameter's C type and name and the contract's part for it. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/contract/dtype.h"

namespace assay::tools {

// float4 is four float32 behind each other.
struct Element {
  contract::DType dtype = contract::DType::float32;
  std::int64_t width = 1;
};

// Of what a pointer points to, or of a value; nothing for what no contract holds.
[[nodiscard]] std::optional<Element> element_of(std::string type);

// How a kernel spells it: "double", "__half".
[[nodiscard]] std::string c_type_of(contract::DType dtype);

// Whether a name says so, in any case.
[[nodiscard]] bool says(const std::string& name, std::string_view part);

// A scalar that is no extent, by its name: a stride, an offset, a seed.
[[nodiscard]] bool is_neighbour(const std::string& name);

}  // namespace assay::tools
