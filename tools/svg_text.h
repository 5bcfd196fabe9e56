// Numbers and words of a picture in SVG, the same in all of them. Pure.
#pragma once

#include <string>

namespace assay::tools::svg {

// Four significant digits, for a reader.
[[nodiscard]] std::string number(double value);
// Pixels, to a tenth.
[[nodiscard]] std::string coordinate(double value);
// As text between tags: a device's name comes from its driver.
[[nodiscard]] std::string escaped(const std::string& text);
// A line of text; `anchor` is start, middle or end.
[[nodiscard]] std::string text_at(double x, double y, const char* anchor, const std::string& text);

}  // namespace assay::tools::svg
