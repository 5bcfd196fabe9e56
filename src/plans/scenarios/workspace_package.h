// The name of the Python package that a folder holds, read from its pyproject.toml, setup.cfg or
// setup.py, which are not run. Any thread.
#pragma once

#include <filesystem>
#include <string>

namespace assay::scenarios {

// "" if the folder is no package, or computes its name.
[[nodiscard]] std::string package_of(const std::filesystem::path& folder);

}  // namespace assay::scenarios
