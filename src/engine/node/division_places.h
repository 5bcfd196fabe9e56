// The line of a division by zero. The compiler gives divisions of 64 bits none, and the emulator
// names that of what takes the quotient: it is the line, or one a little before it, where the
// source divides.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace assay::node {

// Corrects `where` of findings of that kind. Any source is taken; `findings` are an inspection's.
// `file`: what the source is called in them.
void place_divisions(nlohmann::json& findings, std::string_view source,
                     std::string_view file = "kernel.cu");

}  // namespace assay::node
