// Kernel sources on this machine's disk, for clients that would rather name a file than paste it.
// Only regular files below the allowed roots are read: the kernel resolves the path beneath the
// root, so that neither ".." nor a symbolic link leads out of it.
//
// Any thread. Holds only the roots.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "mcp/owned_fd.h"

namespace assay::tools {

inline constexpr std::size_t kMaxSourceBytes = 8U << 20;  // as schemas/evaluate.input.json

struct NoSourceFile {
  std::string reason{};
};

class SourceFiles {
 public:
  // A root that does not exist yet serves nothing until it does.
  explicit SourceFiles(std::vector<std::filesystem::path> roots);

  // `path`: relative to a root (the first that has it), or absolute and below one.
  [[nodiscard]] std::variant<std::string, NoSourceFile> read(const std::string& path) const;

  // Where such a file or folder really is: an absolute path without symbolic links, for commands
  // that work on it.
  [[nodiscard]] std::variant<std::filesystem::path, NoSourceFile> locate(
      const std::string& path) const;

 private:
  using Found = std::variant<mcp::OwnedFd, NoSourceFile>;
  [[nodiscard]] Found open(const std::string& path) const;

  std::vector<std::filesystem::path> roots_;
};

}  // namespace assay::tools
