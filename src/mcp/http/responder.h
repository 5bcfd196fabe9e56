// Where the answer to one HTTP request goes: either one whole answer, or a stream of events that is
// opened, written to and finished. A connection implements it; tests fake it. Event thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "mcp/http/http_message.h"

namespace assay::mcp::http {

class Responder {
 public:
  virtual ~Responder() = default;

  // REQUIRES: neither answer() nor open_stream() has been called.
  virtual void answer(HttpAnswer answer) = 0;
  virtual void open_stream(Fields fields) = 0;
  // REQUIRES: the stream is open. Bytes as they are; a client that does not read is dropped.
  virtual void write(std::string bytes) = 0;
  virtual void finish() = 0;

  // `then` is called once if the client goes away before the answer is complete; never after it.
  void when_gone(std::function<void()> then) { gone_ = std::move(then); }
  // Sent with whatever this request is answered.
  void always_send(Fields fields) { always_ = std::move(fields); }

 protected:
  void client_is_gone() {
    if (const auto then = std::exchange(gone_, nullptr)) then();
  }
  void forget_watcher() { gone_ = nullptr; }
  [[nodiscard]] const Fields& always() const { return always_; }

 private:
  std::function<void()> gone_{};
  Fields always_{};
};

}  // namespace assay::mcp::http
