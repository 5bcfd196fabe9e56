// The headers that a source includes before anything else, which can be compiled ahead of it: only
// those in angle brackets that the toolkit has, so that their list holds no word of a user's own.
// Pure but for looking whether the files are there; the source may hold anything.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::node {

[[nodiscard]] std::vector<std::string> leading_headers(
    std::string_view source, const std::vector<std::filesystem::path>& include_folders);

}  // namespace assay::node
