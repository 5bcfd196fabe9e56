// JSON bodies as the journal stores them: bounded text. Pure; any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::journal {

// Deeper nesting would overflow the stack of whoever prints it.
inline constexpr std::size_t kMaxBodyDepth = 256;

// Bytes that are no UTF-8 are replaced. Throws std::invalid_argument, `what` first, for a body
// beyond `max_bytes` or kMaxBodyDepth.
[[nodiscard]] std::string text_of(const nlohmann::json& body, std::size_t max_bytes,
                                  const std::string& what);

// A conclusion is never refused: one beyond the bounds is cut to its summary, and says so.
[[nodiscard]] std::string conclusion_text(const nlohmann::json& conclusion, std::size_t max_bytes);

// What text_of() wrote; an empty object for anything else.
[[nodiscard]] nlohmann::json body_from(const std::string& text);

}  // namespace assay::journal
