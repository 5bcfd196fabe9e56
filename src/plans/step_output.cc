#include "plans/step_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace assay::plans {
namespace {

posix::Pair reading_pipe() {
  auto pipe = posix::make_pipe();
  ::fcntl(pipe.ours.get(), F_SETFL, ::fcntl(pipe.ours.get(), F_GETFL) | O_NONBLOCK);
  return pipe;
}

}  // namespace

StepOutput::StepOutput(const std::filesystem::path& log)
    : out_(reading_pipe()), err_(reading_pipe()) {
  if (log.empty()) return;
  log_ = posix::Descriptor(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!log_) log_problem_ = "log " + log.string() + ": " + std::strerror(errno);
}

void StepOutput::drain() {
  if (out_.ours) drain_one(out_.ours, true);
  if (err_.ours) drain_one(err_.ours, false);
}

// At most a few blocks a call: a step that prints without end must not keep us from its deadline.
void StepOutput::drain_one(posix::Descriptor& from, bool is_standard_output) {
  std::array<char, 65536> block;
  for (int blocks = 0; blocks < 16; ++blocks) {
    const long got = ::read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) from.reset();
    if (got <= 0) return;
    take({block.data(), static_cast<std::size_t>(got)}, is_standard_output);
  }
}

void StepOutput::take(std::string_view bytes, bool is_standard_output) {
  seen_bytes_ += bytes.size();
  if (is_standard_output && kept_.size() < kKeptOutputBytes) {
    kept_ += bytes.substr(0, kKeptOutputBytes - kept_.size());
  }
  tail_ += bytes;
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  const auto room = kLogBytes - std::min<std::uint64_t>(kLogBytes, logged_bytes_);
  bytes = bytes.substr(0, room);
  while (log_ && !bytes.empty()) {
    const long wrote = ::write(log_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      log_problem_ = std::string("log: ") + std::strerror(errno);
      log_.reset();
      return;
    }
    logged_bytes_ += static_cast<std::uint64_t>(wrote);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void StepOutput::tell(StepEnd& end) const {
  end.standard_output = kept_;
  end.tail = tail_.size() > kTailBytes ? tail_.substr(tail_.size() - kTailBytes) : tail_;
  end.output_bytes = seen_bytes_;
  end.log_is_cut = logged_bytes_ < seen_bytes_ && logged_bytes_ >= kLogBytes;
  if (!log_problem_.empty()) end.detail += (end.detail.empty() ? "" : "; ") + log_problem_;
}

}  // namespace assay::plans
