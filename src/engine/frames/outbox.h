// The writing half of a channel that one thread reads and many write to. A frame goes out from the
// thread that has it, without waking another; what the stream does not take at once is the
// reader's to flush. Frames leave in the order posted.
//
// Borrows the channel: its reading half stays with its one thread, and nobody else queues or
// flushes. The reader polls wake() beside the stream, and POLLOUT while wants_write().
#pragma once

#include <mutex>

#include "engine/frames/channel.h"
#include "engine/posix/descriptor.h"

namespace assay::frames {

class Outbox {
 public:
  explicit Outbox(Channel& channel) : channel_(channel) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Any thread; never blocks on the stream. After close() frames are dropped.
  void post(Frame frame);
  // Wakes the reader, whatever for.
  void rouse() const { posix::signal_event(wake_); }

  // The reader's.
  [[nodiscard]] int wake() const { return wake_.get(); }
  void heed() const;  // once it was woken
  void flush();
  [[nodiscard]] bool wants_write();
  void close();  // the channel too

 private:
  Channel& channel_;
  posix::Descriptor wake_ = posix::make_event();
  std::mutex mutex_{};
  bool closed_ = false;
};

}  // namespace assay::frames
