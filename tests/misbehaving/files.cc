#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

std::string folder() {
  const char* name = std::getenv("TMPDIR");
  return name == nullptr ? "/tmp" : name;
}

int create(const std::string& name) {
  return ::open((folder() + "/" + name).c_str(), O_CREAT | O_WRONLY, 0600);
}

[[noreturn]] void report_and_stay(const std::string& what, std::uint64_t count) {
  announce(what + " " + std::to_string(count) + " " + std::strerror(errno));
  for (;;) ::pause();
}

int fill_tmp(const Options& options) {
  ::signal(SIGXFSZ, SIG_IGN);
  const auto most = options.number("bytes", 4ULL << 30);
  const std::string chunk(1U << 20, 'x');
  std::uint64_t written = 0;
  for (unsigned i = 0; written < most; ++i) {
    const int file = create("fill" + std::to_string(i));
    if (file < 0) break;
    ssize_t last = 0;
    std::uint64_t in_file = 0;
    while (in_file < (256U << 20) && (last = ::write(file, chunk.data(), chunk.size())) > 0) {
      in_file += static_cast<std::uint64_t>(last);
    }
    written += in_file;
    const int error = errno;
    ::close(file);
    errno = error;
    if (in_file == 0) break;
  }
  report_and_stay("filled", written);
}

int many_files(const Options& options) {
  const auto most = options.number("most", 20'000);
  std::uint64_t made = 0;
  for (; made < most; ++made) {
    const int file = create("file" + std::to_string(made));
    if (file < 0) break;
    ::close(file);
  }
  report_and_stay("files", made);
}

int open_all_fds(const Options& options) {
  const auto most = options.number("most", 100'000);
  std::uint64_t made = 0;
  while (made < most && ::dup(STDERR_FILENO) >= 0) ++made;
  report_and_stay("descriptors", made);
}

constexpr Misdeed kFiles[] = {
    {"fill_tmp", "writes into its temporary folder until it is full", fill_tmp},
    {"many_files", "makes files there until it is refused", many_files},
    {"open_all_fds", "opens descriptors until it is refused", open_all_fds},
};

}  // namespace

std::span<const Misdeed> files() { return kFiles; }

}  // namespace assay::misbehaving
