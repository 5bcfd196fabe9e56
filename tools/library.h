// What a kernel argument may name instead of holding: contracts stored here, files below the
// allowed roots, earlier jobs of the same caller. One per server; the tools borrow it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/job/record.h"
#include "tools/source_files.h"
#include "tools/stored_contracts.h"

namespace assay::tools {

struct Library {
  StoredContracts contracts;
  SourceFiles files;
};

// The library as one call may use it. What is absent is refused with its reason.
struct References {
  const Library* library = nullptr;
  std::string principal = "local";  // whose contracts are meant
  std::function<std::optional<job::JobRecord>(const std::string& job_id)> find_job{};
};

}  // namespace assay::tools
