// What is told of a mistake in the texts given to load_inline: where it stands in the user's file,
// in words that name nothing of what the engine makes of the texts.
//
// Values own their text. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "engine/node/ended.h"

namespace assay::node {

// Where a line of joined texts stands, each behind its own #line: "kernel.py:12".
[[nodiscard]] std::string place_of(const std::string& text, std::size_t line);

// The line of a source, cut short; "" if it has none such.
[[nodiscard]] std::string excerpt_of(const std::string& source, std::size_t line);

// compile_failed, if reading alone tells that no compiler takes this text. `source`: the user's
// file, named `file`.
[[nodiscard]] std::optional<Ended> mistake_in(const std::string& text, const std::string& source,
                                              const std::string& file);

// A C++ compiler's words about a rewritten launch, as words about the launch.
[[nodiscard]] std::string told_of_launch(std::string message);

}  // namespace assay::node
