#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "engine/confinement/child.h"
#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

// --bytes=N of it, without end if that is 0.
int pour(int fd, const std::string& chunk, std::uint64_t bytes) {
  for (std::uint64_t sent = 0; bytes == 0 || sent < bytes;) {
    const auto written = ::write(fd, chunk.data(), chunk.size());
    if (written < 0) return 1;
    sent += static_cast<std::uint64_t>(written);
  }
  return 0;
}

std::string lines() {
  std::string text;
  while (text.size() < (64U << 10)) text += "what a fine day for a flood\n";
  return text;
}

int flood_stdout(const Options& options) {
  return pour(STDOUT_FILENO, lines(), options.number("bytes", 0));
}

int flood_stderr(const Options& options) {
  return pour(STDERR_FILENO, lines(), options.number("bytes", 0));
}

int invalid_utf8(const Options& options) {
  return pour(STDOUT_FILENO, std::string(4096, '\xfe'), options.number("bytes", 4096));
}

// Complete, well-formed frames which nobody asked for.
int flood_channel(const Options& options) {
  const std::string body = R"({"type":"noise"})";
  std::string frame("ASY1", 4);
  frame += std::string({static_cast<char>(body.size()), 0, 0, 0});
  frame += std::string(16, '\0');
  frame += body;
  std::string chunk;
  while (chunk.size() < (64U << 10)) chunk += frame;
  return pour(confinement::kChannelDescriptor, chunk, options.number("bytes", 0));
}

constexpr Misdeed kFloods[] = {
    {"flood_stdout", "prints without end, or --bytes=N", flood_stdout},
    {"flood_stderr", "the same on standard error", flood_stderr},
    {"invalid_utf8", "prints bytes that are no text", invalid_utf8},
    {"flood_channel", "sends frames without end, or --bytes=N", flood_channel},
};

}  // namespace

std::span<const Misdeed> floods() { return kFloods; }

}  // namespace assay::misbehaving
