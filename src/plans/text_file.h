// A small file as one text: a script, a request, an answer, a log. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::plans {

// Byte for byte; "" of what cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

// Throws if not all of it could be written: half a script would be the user's fault in what is
// told.
void write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::plans
