// One end of a frame connection. Passive: the owner polls descriptor() and calls read_available()
// or flush() when it is ready; a child, which has nothing else to wait for, uses receive() and
// send(). Owned by one thread at a time. Reading never trusts the peer: a frame beyond the caps or
// with a wrong magic makes the channel `malformed` for good.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/frames/frame.h"

namespace assay::frames {

class Channel {
 public:
  enum class State { open, ended, malformed };

  // With `passes_descriptors` the descriptor must be an AF_UNIX socket; otherwise any stream will
  // do.
  Channel(posix::Descriptor stream, Caps caps, bool passes_descriptors);

  [[nodiscard]] int descriptor() const { return stream_.get(); }
  [[nodiscard]] State state() const { return state_; }
  // Why the channel is malformed, for the log and the report.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  // Reads what is there without blocking; complete frames come out of next().
  void read_available();
  [[nodiscard]] std::optional<Frame> next();
  // Several may have come with one reading; descriptor() is not readable for those.
  [[nodiscard]] bool has_frame() const { return !ready_.empty(); }

  // Queues a frame; flush() writes what the stream takes without blocking. A peer that reads
  // nothing costs memory up to what was queued, never a blocked thread.
  void queue(Frame frame);
  void flush();
  [[nodiscard]] bool wants_write() const { return !outgoing_.empty(); }

  // Blocking forms. receive() returns nothing when the channel has ended or is malformed.
  [[nodiscard]] std::optional<Frame> receive();
  void send(Frame frame);

  void close() { stream_.reset(); }

 private:
  struct Outgoing {
    std::string bytes{};
    std::size_t written = 0;
    std::vector<posix::Descriptor> descriptors{};
  };

  [[nodiscard]] long read_some(char* into, std::size_t room);
  [[nodiscard]] long write_some(Outgoing& frame);
  void take_frames();
  void fail(std::string why);

  posix::Descriptor stream_;
  Caps caps_;
  bool passes_descriptors_;
  State state_ = State::open;
  std::string complaint_{};
  std::string pending_{};
  std::deque<posix::Descriptor> received_{};
  std::deque<Frame> ready_{};
  std::deque<Outgoing> outgoing_{};
};

}  // namespace assay::frames
