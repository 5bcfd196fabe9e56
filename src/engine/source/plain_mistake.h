// What no compiler of CUDA takes, found by reading alone, so that nobody waits for a build to hear
// of it: a bracket, a text or a comment without its end, `<<<` without `>>>(`, a launch of too few
// or too many parameters.
//
// Says nothing where it cannot be sure, as what a reader takes for a mistake may be right: brackets
// that branches of #if or macros of the source open and close, what a macro may put into a launch.
// Nothing found means nothing, then.
//
// Values own their text. Pure; any thread; no text crashes it; linear.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::source {

struct Mistake {
  std::string what{};      // "'(' has no ')'"
  std::size_t line = 1;    // of the text
  std::string before{};    // what was met in place of what is missing: "'}'"; "": the end
  std::size_t met_at = 0;  // its line
};

// Of the text of one file, as a compiler is given it.
[[nodiscard]] std::optional<Mistake> plain_mistake(std::string_view source);

// The line at which it depends on the preprocessor which brackets pair: who reads halves out of
// such a text may tear it.
[[nodiscard]] std::optional<std::size_t> hidden_brackets(std::string_view source);

// What is wrong with a launch of another number of parameters: "a launch takes 2 to 4 parameters:
// …".
[[nodiscard]] std::string launch_parameters();

}  // namespace assay::source
