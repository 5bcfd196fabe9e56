#include "tests/transcripts/sse_endpoint.h"

#include <sys/wait.h>

#include <stdexcept>

namespace assay::transcripts {

using mcp::http::post_text;
using mcp::http::WireClient;

SseEndpoint::SseEndpoint(const std::vector<std::string>& command)
    : process_(command), stream_(process_.port()) {
  open();
  following_ = std::thread([this] { follow(); });
}

SseEndpoint::~SseEndpoint() { close_stream(); }

void SseEndpoint::open() {
  stream_.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  const auto head = stream_.receive_head();
  std::string name;
  if (!head || head->status != 200 || !next_event(name, address_) || name != "endpoint")
    throw std::runtime_error("/sse does not begin with where to post");
}

bool SseEndpoint::next_event(std::string& name, std::string& data) {
  while (true) {
    const std::size_t end = text_.find("\n\n");
    if (end == std::string::npos) {
      const auto chunk = stream_.next_chunk();
      if (!chunk || chunk->empty()) return false;
      text_ += *chunk;
      continue;
    }
    const std::string event = text_.substr(0, end);
    text_.erase(0, end + 2);
    const std::size_t named = event.find("event: ");
    const std::size_t told = event.find("data: ");
    if (named == std::string::npos || told == std::string::npos) continue;  // it keeps alive
    name = event.substr(named + 7, event.find('\n', named) - named - 7);
    data = event.substr(told + 6, event.find('\n', told) - told - 6);
    return true;
  }
}

void SseEndpoint::follow() {
  for (std::string name, data; next_event(name, data);) {
    if (name != "message") continue;
    const std::lock_guard lock(mutex_);
    received_.push_back(data);
    changed_.notify_all();
  }
}

void SseEndpoint::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string line(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end == std::string_view::npos ? end : end + 1, bytes.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    WireClient client(process_.port());
    client.send(post_text(address_, line));
    const auto answer = client.receive();
    if (!answer || answer->status != 202) refused_ = line;
  }
}

std::optional<std::string> SseEndpoint::receive(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [this] { return !received_.empty(); })) return {};
  std::string message = std::move(received_.front());
  received_.pop_front();
  return message;
}

void SseEndpoint::close_stream() {
  stream_.abort();
  if (following_.joinable()) following_.join();
}

std::string SseEndpoint::finish(std::chrono::milliseconds) {
  close_stream();
  if (!received_.empty()) return "more than was expected: " + received_.front();
  if (!refused_.empty()) return "a message was not taken: " + refused_;
  const int status = process_.end();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? ""
             : "the server ended with wait status " + std::to_string(status);
}

}  // namespace assay::transcripts
