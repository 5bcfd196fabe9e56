// links: assay_mcp_http
// A running server against any bytes on a connection. The claims: it answers with HTTP or closes,
// and goes on to answer the next one who asks properly.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "mcp/http/http_server.h"
#include "tests/fuzz/codec_fuzz.h"

namespace {

using namespace assay::mcp;
using namespace assay::mcp::http;

constexpr std::string_view kAnswerBegins = "HTTP/1.1 ";
constexpr int kLookEvery = 32;

void require(bool holds) {
  if (!holds) std::abort();
}

Tool echo() {
  return {
      .name = "echo",
      .input_schema = {{"type", "object"}},
      .run = [](const Json& arguments, CallContext&) {
        return ToolResult{.text = arguments.dump(-1, ' ', false, Json::error_handler_t::replace)};
      }};
}

Site site() {
  return {.serves = [](const HttpRequest& request) { return request.path.starts_with("/x"); },
          .is_public = [](const HttpRequest&) { return false; },
          .answer =
              [](const Visit& visit) {
                return HttpAnswer{.content_type = "text/plain", .body = visit.request.query};
              },
          .refusal =
              [](int status, const std::string& why) {
                return HttpAnswer{.status = status, .content_type = "text/plain", .body = why};
              }};
}

// Made once, never ended: the process ends with it.
std::uint16_t port() {
  static auto* const server =
      new HttpServer({.version = "0", .tools = {echo()}}, {.port = 0, .site = site()});
  static auto* const thread = new std::thread([] { (void)server->run(std::stop_token()); });
  (void)thread;
  return server->port();
}

// libFuzzer's clock is a signal that would end a call in the middle; the server's thread takes it.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t clock;
    ::sigemptyset(&clock);
    ::sigaddset(&clock, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &clock, &before_);
  }
  ~Undisturbed() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
};

// What fails here is the machine's, or the server has stopped listening.
void require_call(const char* call, bool worked) {
  if (!worked) std::perror(call);
  require(worked);
}

std::string said_to(std::string_view bytes) {
  const std::uint16_t server_port = port();
  const Undisturbed undisturbed;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require_call("socket", fd >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require_call("connect",
               ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const timeval patience{.tv_sec = 8, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // it has heard enough
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  ::shutdown(fd, SHUT_WR);
  std::string said;
  char part[4096];
  for (ssize_t count = 0; (count = ::recv(fd, part, sizeof part, 0)) > 0;)
    said.append(part, static_cast<std::size_t>(count));
  // Reset, so that no port waits for stragglers.
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  ::close(fd);
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static int inputs = 0;
  const std::string said = said_to({reinterpret_cast<const char*>(data), size});
  require(said.empty() || std::string_view(said).substr(0, kAnswerBegins.size()) == kAnswerBegins);
  if (++inputs % kLookEvery == 0) {
    // One who keeps the connection open until the answer is there.
    const std::string well = said_to("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    require(well.empty() || std::string_view(well).substr(0, 12) == "HTTP/1.1 404");
  }
  return 0;
}
