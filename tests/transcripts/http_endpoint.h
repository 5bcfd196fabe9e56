// The same conversation over Streamable HTTP: each line is a POST of its own with the headers that
// its body calls for, and what the answers and streams carry are the lines received. What is a
// matter of the transport is done here as HTTP has it: a legacy line that needs a session gets one,
// and a cancelled modern request is one whose connection is closed.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "mcp/http/http_server.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "tests/mcp/http/wire_client.h"
#include "tests/transcripts/endpoint.h"

namespace assay::transcripts {

// A server process that says on stderr where it listens ("…http://127.0.0.1:PORT/…"); what else it
// says there is passed on.
class ListeningProcess {
 public:
  explicit ListeningProcess(const std::vector<std::string>& command);
  ~ListeningProcess();
  ListeningProcess(const ListeningProcess&) = delete;
  ListeningProcess& operator=(const ListeningProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Asks it to end; its wait status.
  [[nodiscard]] int end();

 private:
  pid_t child_ = -1;
  mcp::OwnedFd errors_{};
  std::uint16_t port_ = 0;
  std::thread passing_on_{};
};

class HttpEndpoint final : public Endpoint {
 public:
  // A server in this process that serves `config` on a thread.
  explicit HttpEndpoint(mcp::ServerConfig config);
  explicit HttpEndpoint(const std::vector<std::string>& command);
  ~HttpEndpoint() override;

  void send(std::string_view bytes) override;
  // There is no input to close: every POST has its own.
  void close_input() override {}
  [[nodiscard]] std::optional<std::string> receive(std::chrono::milliseconds patience) override;
  [[nodiscard]] std::string finish(std::chrono::milliseconds patience) override;

 private:
  struct Post {
    std::unique_ptr<mcp::http::WireClient> client{};
    bool over = false;
    std::thread thread{};
  };

  void post(const std::string& line);
  // Sends, and gives the answer a moment, so that answers come in the order of the lines.
  void start(const std::string& id, const std::string& text, bool answered);
  void follow(Post& post, bool answered);
  void take_events(std::string& text);
  void deliver(std::string message);
  void need_session();
  [[nodiscard]] std::string legacy_fields(bool initialize);
  void end_posts();

  std::uint16_t port_ = 0;
  std::unique_ptr<mcp::http::HttpServer> server_{};
  std::stop_source stop_{};
  std::thread thread_{};
  std::unique_ptr<ListeningProcess> process_{};

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::string> received_{};
  std::string session_{};
  std::multimap<std::string, std::unique_ptr<Post>> posts_{};  // by the JSON text of the id
};

}  // namespace assay::transcripts
