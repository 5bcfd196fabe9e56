#include "cli/commands.h"

namespace assay::cli {

std::filesystem::path executable_folder() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return self.parent_path();
}

}  // namespace assay::cli
