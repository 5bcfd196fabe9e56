// One connection: reads requests one after the other, hands each to the server and sends what
// it is answered. Requests that arrive early (pipelined) wait their turn. It always reads while an
// answer is pending, because that is how it learns that the client has gone.
//
// The end of the input says that the client has closed its half, and not whether it closed the
// other one too: the two look the same until something is sent. So every complete request that is
// here is still answered, each if its answer comes within half_closed_time; after that the client
// counts as gone, and what it asked for is cancelled. A reset, a broken TLS stream or a write that
// fails tell at once.
//
// Every wait has an end, looked at by tick(): a header or a body that does not come, an answer that
// is not read, a connection without requests. Owned by the handlers it has pending; event thread
// only.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "mcp/event_loop.h"
#include "mcp/http/byte_stream.h"
#include "mcp/http/http_config.h"
#include "mcp/http/responder.h"

namespace assay::mcp::http {

// What a connection needs of the server that accepted it.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  // Of the head alone, before any of the body is waited for: the principal that the request speaks
  // for, or the answer that refuses it.
  virtual std::variant<std::string, HttpAnswer> admit(const HttpRequest& head) = 0;
  // A whole request and what admit() said of it; of one that is refused, without its body.
  virtual void received(HttpRequest request, std::variant<std::string, HttpAnswer> admitted,
                        const std::shared_ptr<Responder>& responder) = 0;
  virtual void closed(const void* connection) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `owner` and `limits` must outlive the connection or its close().
  Connection(std::shared_ptr<ByteStream> stream, const HttpLimits& limits, ConnectionOwner& owner);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void tick(Clock::time_point now);
  // At once, whatever is pending.
  void close();
  [[nodiscard]] bool has_unsent() const { return !unsent_.empty(); }
  // Since when it has waited for a request, or for the rest of a head. Nothing: it serves one, or
  // says goodbye.
  [[nodiscard]] std::optional<Clock::time_point> idle_since() const {
    const bool is_idle = state_ == State::idle || state_ == State::head;
    return is_idle ? std::optional(entered_) : std::nullopt;
  }

 private:
  class Turn;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  // idle: nothing of the next request is here. answering: a request is complete. lingering: the
  // last answer is sent, and the client is given time to read it.
  enum class State { idle, head, body, answering, lingering, closed };

  void enter(State state, Clock::duration time);
  void read();
  void on_read(const boost::system::error_code& fault);
  void advance();
  // False: more bytes are needed.
  [[nodiscard]] bool parse();
  void start_parser();
  // As much as the parser takes of what is here.
  std::size_t put(boost::system::error_code& fault);
  void read_head();
  // False: it is refused, and the connection is not read on.
  [[nodiscard]] bool take_head();
  void expect_body();
  void take_turn();
  // An answer of our own to what is no request; the connection ends with it.
  void refuse(int status);

  void send(std::string bytes);
  void write_next();
  void on_written(bool failed);
  [[nodiscard]] Clock::duration answering_time() const;
  // The turn has said everything.
  void turn_over();
  void after_answer();

  const std::shared_ptr<ByteStream> stream_;
  const HttpLimits& limits_;
  ConnectionOwner& owner_;
  State state_ = State::idle;
  Clock::time_point entered_{};  // the state
  Clock::time_point deadline_{};
  boost::beast::flat_buffer buffer_{};
  bool reading_ = false;
  bool input_ended_ = false;
  std::optional<Parser> parser_{};
  HttpRequest request_{};
  std::variant<std::string, HttpAnswer> admitted_{};
  std::shared_ptr<Turn> turn_{};
  bool keep_ = false;    // another request may follow on this connection
  bool is_old_ = false;  // the request is HTTP/1.0
  std::deque<std::string> unsent_{};
  std::size_t unsent_bytes_ = 0;
  bool writing_ = false;
  Clock::time_point write_deadline_{};
};

}  // namespace assay::mcp::http
