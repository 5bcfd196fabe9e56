#include "mcp/http/http_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "mcp/dispatcher.h"
#include "mcp/http/access.h"
#include "mcp/http/byte_stream.h"
#include "mcp/http/connection.h"
#include "mcp/http/io_loop.h"
#include "mcp/http/mcp_endpoint.h"
#include "mcp/http/site_endpoint.h"
#include "mcp/http/sse_endpoint.h"

namespace assay::mcp::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// After a stop: how long the clients may take to read the last answers.
constexpr std::chrono::milliseconds kFarewell{500};
// When no descriptor is left for another connection.
constexpr std::chrono::milliseconds kAcceptPause{100};

tcp::acceptor listening(asio::io_context& io, const HttpConfig& http) {
  const std::string name = http.address + ':' + std::to_string(http.port);
  try {
    return {io, tcp::endpoint(asio::ip::make_address(http.address), http.port)};
  } catch (const boost::system::system_error& fault) {
    throw std::system_error(fault.code(), "cannot listen on " + name);
  }
}

// A share of the sessions for each token, so that no holder of one can shut out another.
HttpLimits shared_out(HttpLimits limits, std::size_t principals) {
  const std::size_t share = std::max<std::size_t>(limits.max_sessions / principals, 1);
  limits.max_sessions_each = std::min(limits.max_sessions_each, share);
  return limits;
}

HttpAnswer not_found() {
  return answer_of(
      {.status = 404, .error = {.code = ErrorCode::refused_by_transport, .message = "Not found"}});
}

}  // namespace

class HttpServer::Impl final : public ConnectionOwner,
                               public std::enable_shared_from_this<HttpServer::Impl> {
 public:
  Impl(ServerConfig config, HttpConfig http)
      : limits_(shared_out(http.limits, std::max<std::size_t>(http.access.tokens.size(), 1))),
        log_(config.log),
        max_pending_bytes_(config.limits.max_pending_bytes),
        access_(std::move(http.access)),
        is_encrypted_(http.tls.has_value()),
        streams_(byte_streams(http.tls)),
        stop_grace_(config.limits.stop_grace),
        acceptor_(listening(io_, http)),
        site_(std::move(http.site), max_pending_bytes_, loop_, log_),
        dispatcher_(std::move(config), loop_),
        mcp_(dispatcher_, limits_, max_pending_bytes_),
        sse_(dispatcher_, limits_) {}

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  Outcome run(const std::stop_token& stop) {
    accept();
    schedule_tick();
    {
      const std::stop_callback end(stop, [this] { io_.stop(); });
      loop_.run([this](Task work) { return dispatcher_.work(std::move(work)); });
    }
    say_farewell();
    Outcome outcome{.ended = Ended::stop_requested};
    outcome.abandoned_calls = dispatcher_.drain(shared_from_this());
    outcome.abandoned_calls += site_.drain(stop_grace_, shared_from_this());
    return outcome;
  }

  std::variant<std::string, HttpAnswer> admit(const HttpRequest& head) override {
    // Clients look there for a way to log in before they show what they have: it is not there.
    const bool is_probe = head.path.starts_with("/.well-known/");
    const bool is_open = is_probe || (site_.serves(head) && site_.is_public(head));
    return access_.admit(head, is_open ? Access::Door::open : Access::Door::guarded);
  }

  void received(HttpRequest request, std::variant<std::string, HttpAnswer> admitted,
                const std::shared_ptr<Responder>& responder) override {
    responder->always_send(access_.cross_origin_fields(request));
    const bool is_sites = site_.serves(request);
    if (auto* refusal = std::get_if<HttpAnswer>(&admitted))
      return responder->answer(is_sites ? site_.refusal(std::move(*refusal)) : std::move(*refusal));
    const auto& principal = std::get<std::string>(admitted);
    if (is_sites) return site_.handle(std::move(request), principal, responder);
    if (request.path == "/mcp" || request.path == "/mcp/")
      return mcp_.handle(std::move(request), principal, responder);
    if (request.path == "/sse") return sse_.open(request, principal, responder);
    if (request.path == "/messages") return sse_.post(request, principal, *responder);
    responder->answer(site_.is_there() ? site_.refusal({.status = 404}) : not_found());
  }

  void closed(const void* connection) override { connections_.erase(connection); }

 private:
  void accept() {
    acceptor_.async_accept([this](const error_code& fault, tcp::socket socket) {
      if (fault == asio::error::operation_aborted) return;
      if (fault) return accept_later(fault);
      welcome(std::move(socket));
      accept();
    });
  }

  void accept_later(const error_code& fault) {
    if (log_) log_(Level::warning, "cannot accept a connection: " + fault.message());
    loop_.post_at(Clock::now() + kAcceptPause, [this] { accept(); });
  }

  void welcome(tcp::socket socket) {
    if (connections_.size() >= limits_.max_connections && !close_longest_idle())
      return turn_away(std::move(socket));
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection =
        std::make_shared<Connection>(streams_->over(std::move(socket)), limits_, *this);
    connections_.emplace(connection.get(), connection);
    connection->start();
  }

  // So that nobody shuts the others out by connections that ask for nothing.
  bool close_longest_idle() {
    std::shared_ptr<Connection> longest;
    for (const auto& connection : open_connections()) {
      const auto since = connection->idle_since();
      if (since && (!longest || *since < *longest->idle_since())) longest = connection;
    }
    if (longest) longest->close();
    return longest != nullptr;
  }

  void turn_away(tcp::socket socket) const {
    if (is_encrypted_) return;  // a handshake for everyone who is turned away would cost too much
    error_code ignored;
    socket.non_blocking(true, ignored);
    const std::string why = R"({"error":"too many connections are open; try again"})";
    const std::string full = bytes_of(503,
                                      {{"Connection", "close"},
                                       {"Retry-After", "1"},
                                       {"Content-Type", "application/json"},
                                       {"Content-Length", std::to_string(why.size())}},
                                      why);
    socket.write_some(asio::buffer(full), ignored);
  }

  void schedule_tick() {
    ticks_.expires_after(limits_.tick);
    ticks_.async_wait([this](const error_code& fault) {
      if (fault) return;
      const auto now = Clock::now();
      for (const auto& connection : open_connections()) connection->tick(now);
      mcp_.tick(now);
      sse_.tick(now);
      schedule_tick();
    });
  }

  // A copy: what is done with one may close it, or another.
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> open_connections() const {
    std::vector<std::shared_ptr<Connection>> open;
    open.reserve(connections_.size());
    for (const auto& [key, connection] : connections_)
      if (auto alive = connection.lock()) open.push_back(std::move(alive));
    return open;
  }

  void say_farewell() {
    io_.restart();
    error_code ignored;
    acceptor_.close(ignored);
    ticks_.cancel();
    dispatcher_.stop_all();
    site_.stop_all();
    mcp_.stop();
    sse_.stop();
    const auto deadline = Clock::now() + kFarewell;
    while (anything_unsent() && Clock::now() < deadline)
      io_.run_one_for(std::chrono::milliseconds(20));
    for (const auto& connection : open_connections()) connection->close();
    io_.poll();
  }

  [[nodiscard]] bool anything_unsent() const {
    for (const auto& connection : open_connections())
      if (connection->has_unsent()) return true;
    return false;
  }

  const HttpLimits limits_;
  const Log log_;
  const std::size_t max_pending_bytes_;
  const Access access_;
  const bool is_encrypted_;
  const std::unique_ptr<ByteStreams> streams_;
  const std::chrono::milliseconds stop_grace_;
  asio::io_context io_{1};
  IoLoop loop_{io_};
  tcp::acceptor acceptor_;
  asio::steady_timer ticks_{io_};
  // A connection is owned by the operations it has pending.
  std::map<const void*, std::weak_ptr<Connection>> connections_{};
  SiteEndpoint site_;  // this and the next after everything that their threads use
  Dispatcher dispatcher_;
  McpEndpoint mcp_;
  SseEndpoint sse_;
};

HttpServer::HttpServer(ServerConfig config, HttpConfig http)
    : impl_(std::make_shared<Impl>(std::move(config), std::move(http))) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return impl_->port(); }

Outcome HttpServer::run(const std::stop_token& stop) { return impl_->run(stop); }

}  // namespace assay::mcp::http
