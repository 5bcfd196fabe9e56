// What a load_inline asks for, as its source's process claims it: parts of text with their lines,
// names of functions, compilers' flags. Pure; a claim of another shape throws nlohmann's exceptions
// (decode_claim(), ended.h, makes of them how the job ends). Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::node {

// The text of [{line, text}]; "#line 12 "FILE"" before each part that stands in the file as it is
// (line > 0), `otherwise` in the file's place before one that does not.
[[nodiscard]] std::string joined(const nlohmann::json& parts, const std::string& file,
                                 const char* otherwise);
[[nodiscard]] bool has_no_text(const nlohmann::json& parts);
// Of a module or function.
[[nodiscard]] bool is_name(const std::string& text);
// The module that binds these functions; none where the source binds its functions itself (null).
[[nodiscard]] std::string bindings(const nlohmann::json& functions);
// Of nvcc's flags those that NVRTC knows and that mean something to the code.
[[nodiscard]] std::vector<std::string> device_options(const nlohmann::json& flags);
// -D and -U of them, for the host's compiler.
[[nodiscard]] nlohmann::json defines_of(const nlohmann::json& flags);

}  // namespace assay::node
