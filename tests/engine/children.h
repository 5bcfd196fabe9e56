// How many processes this one is the parent of, by whichever thread. For tests of what makes and
// ends them.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <filesystem>
#include <fstream>

inline std::size_t children() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) ++count;
  }
  return count;
}
