// One parameter of a function from its tokens. Private to this room. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/source/signature.h"

namespace assay::source {

// Type names that the source itself defines (typedef, using) → what they stand for, as tokens.
using Aliases = std::map<std::string_view, Tokens, std::less<>>;
[[nodiscard]] Aliases find_aliases(const Tokens& tokens);

// Nothing for "void" and for no tokens.
[[nodiscard]] std::optional<Parameter> read_parameter(const Tokens& tokens, Range range,
                                                      const Aliases& aliases);

// The parameters between `template <` and its '>'.
[[nodiscard]] std::vector<TemplateParameter> read_template_parameters(const Tokens& tokens,
                                                                      Range range);

// Words that name a type or part of one: "unsigned", "float", "void".
[[nodiscard]] bool is_type_word(std::string_view word);

}  // namespace assay::source
