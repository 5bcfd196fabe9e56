#include "engine/frames/outbox.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace assay::frames {

void Outbox::post(Frame frame) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  channel_.queue(std::move(frame));
  channel_.flush();
  if (channel_.wants_write()) rouse();
}

void Outbox::heed() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof count);
}

void Outbox::flush() {
  const std::lock_guard lock(mutex_);
  channel_.flush();
}

bool Outbox::wants_write() {
  const std::lock_guard lock(mutex_);
  return channel_.wants_write();
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  channel_.close();
}

}  // namespace assay::frames
