#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

constexpr std::size_t kPiece = 16U << 20;
constexpr std::size_t kPage = 4096;

bool map_and_touch(int flags, int file) {
  void* piece = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, flags, file, 0);
  if (piece == MAP_FAILED) return false;
  for (std::size_t at = 0; at < kPiece; at += kPage) static_cast<volatile char*>(piece)[at] = 1;
  return true;
}

// Takes --bytes=N (1 GiB) in pieces, says how far it came, and holds them.
template <typename Take>
int hoard(const Options& options, const Take& take) {
  const auto wanted = options.number("bytes", 1ULL << 30);
  std::uint64_t held = 0;
  while (held < wanted && take()) held += kPiece;
  announce("holding " + std::to_string(held >> 20) + " MiB");
  for (;;) ::pause();
}

int memory_anonymous(const Options& options) {
  return hoard(options, [] { return map_and_touch(MAP_PRIVATE | MAP_ANONYMOUS, -1); });
}

int memory_shared(const Options& options) {
  return hoard(options, [] { return map_and_touch(MAP_SHARED | MAP_ANONYMOUS, -1); });
}

int memory_memfd(const Options& options) {
  return hoard(options, [] {
    const int file = ::memfd_create("hoard", 0);
    return file >= 0 && ::ftruncate(file, kPiece) == 0 && map_and_touch(MAP_SHARED, file);
  });
}

// The pages are held by the descriptor alone: no process has them mapped.
int memory_unmapped(const Options& options) {
  ::signal(SIGXFSZ, SIG_IGN);
  return hoard(options, [] {
    const int file = ::memfd_create("hoard", 0);
    const std::string zeros(1U << 20, 'x');
    for (std::size_t at = 0; file >= 0 && at < kPiece; at += zeros.size()) {
      if (::write(file, zeros.data(), zeros.size()) < 0) return false;
    }
    return file >= 0;
  });
}

constexpr Misdeed kMemory[] = {
    {"memory_anonymous", "takes --bytes=N of private memory", memory_anonymous},
    {"memory_shared", "takes it as shared mappings, which RLIMIT_DATA misses", memory_shared},
    {"memory_memfd", "takes it as memory files", memory_memfd},
    {"memory_unmapped", "takes it as memory files that it does not map", memory_unmapped},
};

}  // namespace

std::span<const Misdeed> memory() { return kMemory; }

}  // namespace assay::misbehaving
