#include "engine/runner/step_role.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/confinement/child.h"

namespace assay::runner {
namespace {

constexpr int kCannotExecute = 127;

int refuse(const std::string& what, int error) {
  const std::string text = what + ": " + std::strerror(error);
  [[maybe_unused]] const auto written =
      ::write(confinement::kChannelDescriptor, text.data(), text.size());
  return kCannotExecute;
}

}  // namespace

int become_step(int argc, char** argv) {
  constexpr std::string_view kFolder = "--cwd=";
  std::string folder;
  int program = 0;
  for (int i = 1; i < argc && program == 0; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(kFolder)) folder = word.substr(kFolder.size());
    if (word == "--") program = i + 1;
  }
  if (program == 0 || program >= argc) return refuse("no command", EINVAL);
  ::fcntl(confinement::kChannelDescriptor, F_SETFD, FD_CLOEXEC);
  if (::chdir(folder.c_str()) != 0) return refuse("cannot enter " + folder, errno);
  // Files that a step makes are the user's, as a shell would make them.
  ::umask(022);
  ::execvp(argv[program], argv + program);
  return refuse(std::string("cannot execute ") + argv[program], errno);
}

}  // namespace assay::runner
