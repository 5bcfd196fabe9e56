// What libstdc++'s random_device and expat take from glibc 2.36, so that programs which were linked
// on it start on 2.35, too. Named by both programs as one of their own sources: of a library it
// would be linked only if something before the C++ library had asked for it.
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void arc4random_buf(void* to, std::size_t bytes) noexcept {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const auto got = ::getrandom(at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) std::abort();  // no seed is as bad as a known one
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t word = 0;
  arc4random_buf(&word, sizeof word);
  return word;
}
