#include "mcp/http/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_prefix.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <cstdio>
#include <ctime>
#include <utility>

#include "mcp/http/refusal.h"

namespace assay::mcp::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{16} << 10;
// While an answer is pending, what arrives early is kept up to here; beyond it nothing is read.
constexpr std::size_t kMaxEarlyBytes = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kLinger{2'000};
constexpr std::size_t kUsualFields = 12;
constexpr Clock::duration kNoDeadline = std::chrono::hours(24 * 365);

// What a request that cannot be read is answered.
int status_of_fault(const error_code& fault) {
  namespace http = beast::http;
  if (fault == http::error::header_limit) return 431;
  if (fault == http::error::body_limit) return 413;
  if (fault == http::error::bad_version) return 505;
  return 400;
}

std::string date_of(std::time_t when) {
  std::array<char, 40> text{};
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

// Written once a second.
const std::string& date_now() {
  thread_local std::time_t second = -1;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != second) {
    text = date_of(now);
    second = now;
  }
  return text;
}

// "http://host/path" is as good as "/path"; what is no path is left to be not found.
void read_target(std::string_view target, HttpRequest& request) {
  const std::size_t scheme = target.find("://");
  if (!target.starts_with('/') && scheme != std::string_view::npos) {
    const std::size_t path = std::min(target.find('/', scheme + 3), target.size());
    request.authority = target.substr(scheme + 3, path - scheme - 3);
    target = path == target.size() ? "/" : target.substr(path);
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
}

// 0: the body's end can be told, and its bytes are what they seem. `is_old`: before HTTP/1.1,
// which knows no chunks.
int status_of_framing(const HttpRequest& head, bool is_old) {
  const auto coding = head.field("Transfer-Encoding");
  if (!coding) return 0;
  if (is_old || head.field("Content-Length")) return 400;
  return same_name(*coding, "chunked") ? 0 : 501;
}

// 0: nothing is asked of the body that this server does not do.
int status_of_demands(const HttpRequest& head) {
  const auto expected = head.field("Expect");
  if (expected && !same_name(*expected, "100-continue")) return 417;
  const auto encoding = head.field("Content-Encoding");
  return encoding && !encoding->empty() && !same_name(*encoding, "identity") ? 415 : 0;
}

HttpAnswer refusal_of(int status) {
  return answer_of({.status = status,
                    .error = {.code = ErrorCode::refused_by_transport,
                              .message = std::string(reason_of(status))}});
}

}  // namespace

// One request's answer. It outlives the connection if somebody still holds it, and says nothing
// then.
class Connection::Turn final : public Responder {
 public:
  Turn(std::shared_ptr<Connection> connection, bool chunked, bool head_only, bool keep)
      : connection_(std::move(connection)), chunked_(chunked), head_only_(head_only), keep_(keep) {}

  void answer(HttpAnswer answer) override {
    Fields fields = common_fields();
    if (!answer.content_type.empty())
      fields.push_back({"Content-Type", std::move(answer.content_type)});
    if (answer.status != 204)
      fields.push_back({"Content-Length", std::to_string(answer.body.size())});
    for (Field& field : answer.fields) fields.push_back(std::move(field));
    send(bytes_of(answer.status, fields, head_only_ ? std::string_view() : answer.body));
    complete();
  }

  void open_stream(Fields fields) override {
    Fields all = common_fields();
    for (Field& field : fields) all.push_back(std::move(field));
    if (chunked_) all.push_back({"Transfer-Encoding", "chunked"});
    send(bytes_of(200, all));
  }

  void write(std::string bytes) override {
    if (!chunked_) return send(std::move(bytes));
    std::array<char, 20> size{};
    const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    bytes.insert(0, size.data(), static_cast<std::size_t>(digits));
    send(bytes.append("\r\n"));
  }

  void finish() override {
    if (chunked_) send("0\r\n\r\n");
    complete();
  }

  void lose_client() {
    connection_.reset();
    client_is_gone();
  }

 private:
  [[nodiscard]] Fields common_fields() const {
    Fields fields;
    fields.reserve(kUsualFields);
    fields.push_back({"Date", date_now()});
    if (!keep_) fields.push_back({"Connection", "close"});
    for (const Field& field : always()) fields.push_back(field);
    return fields;
  }
  void send(std::string bytes) {
    // A copy: sending may find out that the client has gone, and take the member away.
    if (const auto connection = connection_) connection->send(std::move(bytes));
  }
  void complete() {
    forget_watcher();
    if (const auto connection = std::exchange(connection_, {})) connection->turn_over();
  }

  std::shared_ptr<Connection> connection_;
  const bool chunked_;
  const bool head_only_;
  const bool keep_;
};

Connection::Connection(std::shared_ptr<ByteStream> stream, const HttpLimits& limits,
                       ConnectionOwner& owner)
    : stream_(std::move(stream)), limits_(limits), owner_(owner) {}

void Connection::start() {
  enter(State::idle, limits_.header_time);
  stream_->open([self = shared_from_this()](bool failed) {
    if (self->state_ == State::closed) return;
    if (failed) return self->close();
    self->read();
  });
}

void Connection::enter(State state, Clock::duration time) {
  state_ = state;
  entered_ = Clock::now();
  deadline_ = entered_ + time;
}

void Connection::read() {
  if (reading_ || input_ended_ || state_ == State::closed) return;
  if (state_ == State::answering && buffer_.size() >= kMaxEarlyBytes) return;
  reading_ = true;
  stream_->read_some(buffer_.prepare(kReadBytes),
                     [self = shared_from_this()](const error_code& fault, std::size_t count) {
                       self->reading_ = false;
                       self->buffer_.commit(count);
                       self->on_read(fault);
                     });
}

void Connection::on_read(const error_code& fault) {
  if (state_ == State::closed) return;
  if (!fault) return advance();
  input_ended_ = true;
  if (state_ != State::answering) return close();
  // An answer that is complete is sent, whatever ended the input.
  if (!turn_) return;
  if (fault != asio::error::eof) return close();
  enter(State::answering, answering_time());
}

Clock::duration Connection::answering_time() const {
  return input_ended_ ? Clock::duration(limits_.half_closed_time) : kNoDeadline;
}

void Connection::advance() {
  while (state_ == State::idle || state_ == State::head || state_ == State::body) {
    if (buffer_.size() == 0 || !parse()) break;
  }
  if (state_ == State::lingering) buffer_.consume(buffer_.size());
  // The rest of a request that has begun will not come.
  const bool waits = state_ == State::idle || state_ == State::head || state_ == State::body;
  if (input_ended_ && waits) return close();
  read();
}

bool Connection::parse() {
  if (state_ == State::idle) start_parser();
  error_code fault;
  std::size_t taken = put(fault);
  if (state_ == State::head && parser_->is_header_done()) {
    read_head();
    parser_->eager(true);  // not before: a trailer would count as a part of the head
    if (!fault && !parser_->is_done()) taken += put(fault);
  }
  if (fault && fault != beast::http::error::need_more) {
    // A body that is too large matters less than whose it is.
    if (state_ != State::head || !parser_->is_header_done() || take_head())
      refuse(status_of_fault(fault));
    return false;
  }
  if (state_ == State::head && parser_->is_header_done()) {
    if (!take_head()) return false;
    expect_body();
  }
  if (parser_->is_done()) {
    take_turn();
    return true;
  }
  if (taken > 0) return true;
  // What is between two chunks, or after the last one, has no end in sight.
  if (state_ == State::body && buffer_.size() >= limits_.max_header_bytes) refuse(431);
  return false;
}

std::size_t Connection::put(error_code& fault) {
  // Of a body the parser sees a head's worth at a time: it throws at a trailer of 64 KiB.
  const std::size_t most = parser_->is_header_done() ? limits_.max_header_bytes : buffer_.size();
  const std::size_t taken = parser_->put(beast::buffers_prefix(most, buffer_.cdata()), fault);
  buffer_.consume(taken);
  return taken;
}

void Connection::start_parser() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_header_bytes));
  parser_->body_limit(limits_.max_body_bytes);
  enter(State::head, limits_.header_time);
}

void Connection::read_head() {
  const auto& message = parser_->get();
  request_ = {.method = std::string(message.method_string())};
  read_target({message.target().data(), message.target().size()}, request_);
  request_.fields.reserve(kUsualFields);
  for (const auto& field : message)
    request_.fields.push_back(
        {.name = std::string(field.name_string()), .value = std::string(field.value())});
  // A client older than chunks learns from the end of the connection where a stream ends.
  is_old_ = message.version() < 11;
  keep_ = message.keep_alive() && !is_old_;
}

bool Connection::take_head() {
  if (const int status = status_of_framing(request_, is_old_)) {
    refuse(status);
    return false;
  }
  admitted_ = owner_.admit(request_);
  if (const int status = status_of_demands(request_);
      status != 0 && std::holds_alternative<std::string>(admitted_)) {
    admitted_ = refusal_of(status);
  }
  if (std::holds_alternative<std::string>(admitted_) || parser_->is_done()) return true;
  // What would follow is a body that nobody reads.
  keep_ = false;
  take_turn();
  return false;
}

void Connection::expect_body() {
  enter(State::body, limits_.body_time);
  if (!parser_->is_done() && request_.field("Expect")) send("HTTP/1.1 100 Continue\r\n\r\n");
}

void Connection::take_turn() {
  enter(State::answering, answering_time());
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  turn_ = std::make_shared<Turn>(shared_from_this(), !is_old_, request_.method == "HEAD", keep_);
  // Whoever answers at once takes the member away, and a next request may begin.
  const auto turn = turn_;
  owner_.received(std::exchange(request_, {}), std::exchange(admitted_, {}), turn);
}

void Connection::refuse(int status) {
  parser_.reset();
  keep_ = false;
  enter(State::answering, kNoDeadline);
  const HttpAnswer answer = refusal_of(status);
  Fields fields{{"Date", date_now()},
                {"Connection", "close"},
                {"Content-Type", answer.content_type},
                {"Content-Length", std::to_string(answer.body.size())}};
  send(bytes_of(status, fields, answer.body));
}

void Connection::send(std::string bytes) {
  if (state_ == State::closed) return;
  unsent_bytes_ += bytes.size();
  unsent_.push_back(std::move(bytes));
  if (unsent_bytes_ > limits_.max_unsent_bytes) return close();
  if (!writing_) write_next();
}

void Connection::write_next() {
  writing_ = true;
  write_deadline_ = Clock::now() + limits_.unread_time;
  // In pieces, so that a slow client's progress is seen.
  stream_->write_some(asio::buffer(unsent_.front()),
                      [self = shared_from_this()](const error_code& fault, std::size_t count) {
                        self->writing_ = false;
                        self->unsent_bytes_ -= count;
                        if (count == self->unsent_.front().size())
                          self->unsent_.pop_front();
                        else
                          self->unsent_.front().erase(0, count);
                        self->on_written(static_cast<bool>(fault));
                      });
}

void Connection::on_written(bool failed) {
  if (state_ == State::closed) return;
  if (failed) return close();
  if (!unsent_.empty()) return write_next();
  if (state_ == State::answering && !turn_) after_answer();
}

void Connection::turn_over() {
  turn_.reset();
  if (unsent_.empty() && state_ == State::answering) after_answer();
}

void Connection::after_answer() {
  if (keep_ && (!input_ended_ || buffer_.size() > 0)) {
    enter(State::idle, limits_.idle_time);
    return advance();
  }
  // Closing with unread input would destroy the answer on its way.
  stream_->end_sending();
  if (input_ended_) return close();
  enter(State::lingering, kLinger);
  advance();
}

void Connection::tick(Clock::time_point now) {
  if (writing_ && now >= write_deadline_) return close();
  if (now < deadline_) return;
  if (state_ == State::head || state_ == State::body) return refuse(408);
  // Answering has a deadline only for a client that has closed its half.
  if (state_ != State::answering || turn_) close();
}

void Connection::close() {
  if (std::exchange(state_, State::closed) == State::closed) return;
  stream_->close();
  const auto self = shared_from_this();
  if (const auto turn = std::exchange(turn_, {})) turn->lose_client();
  owner_.closed(this);
}

}  // namespace assay::mcp::http
