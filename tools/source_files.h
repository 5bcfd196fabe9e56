// Kernel sources on this machine's disk, for clients that would rather name a file than paste it.
// Only regular files below the allowed roots are read: the kernel resolves the path beneath the
// root, so that neither ".." nor a symbolic link leads out of it.
//
// Any thread. Holds only names of folders.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "mcp/owned_fd.h"

namespace assay::tools {

// Plans and logs are read here too; a kernel's source has a bound of its own (kernel_argument.h).
inline constexpr std::size_t kMaxFileBytes = 8U << 20;

struct NoSourceFile {
  std::string reason{};
};

class SourceFiles {
 public:
  // A root that does not exist yet serves nothing until it does. `hidden`: a folder of which
  // nothing is read, whatever roots it lies below; empty: none.
  explicit SourceFiles(std::vector<std::filesystem::path> roots,
                       const std::filesystem::path& hidden = {});

  // `path`: relative to a root (the first that has it), or absolute and below one.
  [[nodiscard]] std::variant<std::string, NoSourceFile> read(const std::string& path) const;

  // Where such a file or folder really is: an absolute path without symbolic links, for commands
  // that work on it.
  [[nodiscard]] std::variant<std::filesystem::path, NoSourceFile> locate(
      const std::string& path) const;

 private:
  using Found = std::variant<mcp::OwnedFd, NoSourceFile>;
  [[nodiscard]] Found open(const std::string& path) const;

  [[nodiscard]] bool is_hidden(const mcp::OwnedFd& file) const;

  std::vector<std::filesystem::path> roots_;
  std::filesystem::path hidden_;
};

}  // namespace assay::tools
