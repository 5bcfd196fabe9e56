#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "mcp/server.h"

namespace assay::mcp {
namespace {

void redirect(int from, int to) {
  if (::dup2(from, to) < 0)
    throw std::system_error(errno, std::generic_category(), "redirect a standard stream");
}

}  // namespace

StdioStreams StdioStreams::take() {
  StdioStreams streams{.in = OwnedFd::duplicate_of(STDIN_FILENO),
                       .out = OwnedFd::duplicate_of(STDOUT_FILENO)};
  const OwnedFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) throw std::system_error(errno, std::generic_category(), "open /dev/null");
  // A closed stderr must not become the next file that somebody opens.
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) redirect(nothing.get(), STDERR_FILENO);
  redirect(nothing.get(), STDIN_FILENO);
  redirect(STDERR_FILENO, STDOUT_FILENO);
  return streams;
}

}  // namespace assay::mcp
