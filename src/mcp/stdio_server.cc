#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "mcp/dispatcher.h"
#include "mcp/event_queue.h"
#include "mcp/server.h"
#include "mcp/stdio_input.h"
#include "mcp/stdio_output.h"

namespace assay::mcp {
namespace {

// After a stop: how long the client may take to read the last answers.
constexpr std::chrono::milliseconds kFarewell{500};

class StdioPeer final : public Peer {
 public:
  explicit StdioPeer(StdioOutput& output) : output_(output) {}
  Session& session() override { return session_; }
  void notify(std::string message) override { output_.send(std::move(message)); }
  void answer(std::string message, std::optional<ErrorCode>) override {
    output_.send(std::move(message));
  }

 private:
  Session session_{};
  StdioOutput& output_;
};

}  // namespace

class StdioServer::Impl : public std::enable_shared_from_this<StdioServer::Impl> {
 public:
  Impl(ServerConfig config, StdioStreams streams)
      : streams_(std::move(streams)),
        limits_(config.limits),
        log_(config.log),
        output_(streams_.out),
        peer_(std::make_shared<StdioPeer>(output_)),
        dispatcher_(std::move(config), queue_) {
    // A broken output is an error of write(), not a signal that ends the process.
    std::signal(SIGPIPE, SIG_IGN);
  }

  Outcome run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { queue_.wake(); });
    Outcome outcome;
    {
      const StdioInput input(streams_.in, limits_.max_message_bytes, queue_, peer_, log_);
      outcome.ended = serve(stop);
      if (outcome.ended == Ended::stop_requested) {
        dispatcher_.stop_all();
        say_farewell();
      } else {
        dispatcher_.peer_gone(*peer_);
      }
    }
    outcome.abandoned_calls = dispatcher_.drain(shared_from_this());
    return outcome;
  }

 private:
  Ended serve(const std::stop_token& stop) {
    while (true) {
      queue_.run_tasks();
      while (!overloaded()) {
        std::optional<Incoming> incoming = queue_.take_message();
        if (!incoming) break;
        dispatcher_.receive(std::move(*incoming));
        queue_.run_tasks();
      }
      output_.flush();
      if (output_.broken()) return Ended::output_broken;
      if (stop.stop_requested()) return Ended::stop_requested;
      if (queue_.input_ended()) dispatcher_.input_ended();
      if (queue_.input_ended() && dispatcher_.idle() && output_.empty()) return Ended::input_ended;
      // What was written may have made room; then nobody else would wake us for what waits.
      if (overloaded() || !queue_.has_message()) wait();
    }
  }

  // Too much is owed or unread: the client's next messages wait in the pipe.
  [[nodiscard]] bool overloaded() const {
    return dispatcher_.pending_bytes() + output_.pending_bytes() > limits_.max_pending_bytes;
  }

  void wait() {
    const short wanted = output_.empty() ? short{0} : short{POLLOUT};
    std::array<pollfd, 2> waits{{{queue_.wake_fd(), POLLIN, 0}, {output_.fd(), wanted, 0}}};
    ::poll(waits.data(), waits.size(), timeout_ms());
    // Said even when nothing is being written: nobody is there to read any more.
    if ((waits[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) output_.break_off();
  }

  [[nodiscard]] int timeout_ms() const {
    const auto next = queue_.next_timer();
    if (!next) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
    return static_cast<int>(std::clamp<long>(left.count(), 0, 60'000));
  }

  void say_farewell() {
    const auto deadline = Clock::now() + kFarewell;
    while (!output_.empty() && Clock::now() < deadline) {
      pollfd ready{output_.fd(), POLLOUT, 0};
      ::poll(&ready, 1, 20);
      output_.flush();
    }
  }

  StdioStreams streams_;
  const Limits limits_;
  const Log log_;
  EventQueue queue_{};
  StdioOutput output_;
  std::shared_ptr<StdioPeer> peer_;
  Dispatcher dispatcher_;  // last: tool threads use what is above
};

StdioServer::StdioServer(ServerConfig config, StdioStreams streams)
    : impl_(std::make_shared<Impl>(std::move(config), std::move(streams))) {}

StdioServer::~StdioServer() = default;

Outcome StdioServer::run(const std::stop_token& stop) { return impl_->run(stop); }

}  // namespace assay::mcp
