// The reader: one thread that waits for bytes, cuts lines, decodes them and offers them to the
// event thread. The input may be a file, a pipe, a socket or a terminal. Started by the
// constructor, ended by the end of input or by the destructor, whatever it waits for.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

#include "mcp/codec.h"
#include "mcp/event_queue.h"
#include "mcp/line_splitter.h"
#include "mcp/log.h"
#include "mcp/owned_fd.h"
#include "mcp/peer.h"

namespace assay::mcp {

class StdioInput {
 public:
  // `in` and `queue` must outlive this object.
  StdioInput(const OwnedFd& in, std::size_t max_message_bytes, EventQueue& queue,
             std::shared_ptr<Peer> peer, Log log);
  ~StdioInput();
  StdioInput(const StdioInput&) = delete;
  StdioInput& operator=(const StdioInput&) = delete;

 private:
  void run();
  // False: asked to end.
  [[nodiscard]] bool wait_for_bytes() const;
  void offer(Message message, std::size_t bytes);

  const OwnedFd& in_;
  EventQueue& queue_;
  std::shared_ptr<Peer> peer_;
  Log log_;
  Decoder decoder_{};
  LineSplitter splitter_;
  OwnedFd ending_;
  bool refused_ = false;  // the queue was closed
  std::thread thread_;    // last: it uses everything above
};

}  // namespace assay::mcp
