#include "tests/mcp/http/wire_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace assay::mcp::http {
namespace {

constexpr int kPatienceMs = 20'000;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

WireClient::WireClient(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::generic_category(), "connect");
}

void WireClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the server has gone; what is received will say so
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool WireClient::fill() {
  pollfd ready{socket_.get(), POLLIN, 0};
  if (ended_ || ::poll(&ready, 1, kPatienceMs) <= 0) return false;
  std::array<char, 65536> buffer{};
  const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
  ended_ = count <= 0;
  if (!ended_) received_.append(buffer.data(), static_cast<std::size_t>(count));
  return !ended_;
}

std::optional<std::string> WireClient::take(std::size_t count) {
  while (received_.size() < count)
    if (!fill()) return std::nullopt;
  std::string taken = received_.substr(0, count);
  received_.erase(0, count);
  return taken;
}

std::optional<std::string> WireClient::take_line() {
  std::size_t end = 0;
  while ((end = received_.find("\r\n")) == std::string::npos)
    if (!fill()) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 2);
  return line;
}

std::optional<WireAnswer> WireClient::receive_head() {
  const auto first = take_line();
  if (!first || !first->starts_with("HTTP/1.1 ")) return std::nullopt;
  WireAnswer answer{.status = std::stoi(first->substr(9))};
  while (true) {
    const auto line = take_line();
    if (!line) return std::nullopt;
    if (line->empty()) return answer;
    const std::size_t colon = line->find(": ");
    if (colon == std::string::npos) return std::nullopt;
    answer.fields[lower(line->substr(0, colon))] = line->substr(colon + 2);
  }
}

std::optional<WireAnswer> WireClient::receive() {
  auto answer = receive_head();
  if (!answer) return std::nullopt;
  if (answer->fields.contains("transfer-encoding")) {
    while (true) {
      const auto chunk = next_chunk();
      if (!chunk) return std::nullopt;
      if (chunk->empty()) break;
      answer->body += *chunk;
    }
  } else if (const auto length = answer->fields.find("content-length");
             length != answer->fields.end()) {
    auto body = take(std::stoul(length->second));
    if (!body) return std::nullopt;
    answer->body = std::move(*body);
  } else if (answer->status != 204 && answer->status != 100) {
    while (fill()) {
    }
    answer->body = std::exchange(received_, {});
  }
  return answer;
}

std::optional<std::string> WireClient::next_chunk() {
  const auto size = take_line();
  if (!size) return std::nullopt;
  auto chunk = take(std::stoul(*size, nullptr, 16) + 2);
  if (!chunk || !chunk->ends_with("\r\n")) return std::nullopt;
  chunk->resize(chunk->size() - 2);
  return chunk;
}

void WireClient::abort() const { ::shutdown(socket_.get(), SHUT_RDWR); }

std::string WireClient::read_some() {
  if (received_.empty() && !fill()) return {};
  return std::exchange(received_, {});
}

bool WireClient::at_end() {
  while (fill()) {
  }
  return ended_;
}

void WireClient::close_sending() const { ::shutdown(socket_.get(), SHUT_WR); }

void WireClient::reset() {
  const linger abort{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  socket_.reset();
}

std::string post_text(std::string_view path, std::string_view body, std::string_view more_fields) {
  std::string text = "POST ";
  text.append(path).append(" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
  text.append("Accept: application/json, text/event-stream\r\n").append(more_fields);
  text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return text.append(body);
}

}  // namespace assay::mcp::http
