// The same conversation over HTTP+SSE, the transport of 2024-11-05: one GET whose events are the
// lines received; each line is a POST to the address that the first event names.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/mcp/http/wire_client.h"
#include "tests/transcripts/endpoint.h"
#include "tests/transcripts/http_endpoint.h"

namespace assay::transcripts {

class SseEndpoint final : public Endpoint {
 public:
  // Throws std::runtime_error if the stream does not begin as the revision has it.
  explicit SseEndpoint(const std::vector<std::string>& command);
  ~SseEndpoint() override;

  void send(std::string_view bytes) override;
  // There is no input to close: every POST has its own.
  void close_input() override {}
  [[nodiscard]] std::optional<std::string> receive(std::chrono::milliseconds patience) override;
  [[nodiscard]] std::string finish(std::chrono::milliseconds patience) override;

 private:
  void open();
  void follow();
  // The next event's name and data, from what has come of the stream; false: it has ended.
  [[nodiscard]] bool next_event(std::string& name, std::string& data);
  void close_stream();

  ListeningProcess process_;
  mcp::http::WireClient stream_;
  std::string text_{};     // of the stream, not yet taken apart
  std::string address_{};  // where messages are posted
  std::thread following_{};

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::string> received_{};
  std::string refused_{};  // a POST that was not taken
};

}  // namespace assay::transcripts
