// What is taken out of a source leaves blanks, so that every line and column stays where it was.
// Pure; any thread.
#pragma once

#include <string>

namespace assay::source {

inline void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end && i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace assay::source
