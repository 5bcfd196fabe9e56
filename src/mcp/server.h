// The MCP server as its owner sees it: a configuration, a pair of streams and one blocking run().
//
//   auto streams = mcp::StdioStreams::take();        // first: nothing else can reach stdout now
//   mcp::StdioServer server({.version = "0.1.0", .tools = std::move(tools), .log = log},
//                           std::move(streams));
//   mcp::Outcome outcome = server.run(stop_token);
//   if (outcome.abandoned_calls > 0) std::_Exit(1);  // a tool ignored its stop request
//
// Threads: run() is the event thread and owns all protocol state; it starts one reader thread and a
// pool of tool threads, and joins all of them before it returns, except abandoned ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "mcp/log.h"
#include "mcp/owned_fd.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/task.h"
#include "mcp/tool.h"

namespace assay::mcp {

struct Limits {
  // A longer line is skipped without being stored and answered once with -32600.
  std::size_t max_message_bytes = std::size_t{16} << 20;
  // Accepted but unanswered requests and unread answers; beyond it the server stops reading.
  std::size_t max_pending_bytes = std::size_t{256} << 20;
  // Calls running at once, besides those that only wait; further ones wait in order of arrival.
  std::size_t max_tool_threads = 64;
  // Calls that wait at once for a job or an answer of the client. Beyond it, or beyond its share
  // (mcp/tool_pool.h), a call does not wait: it answers with the state as it stands.
  std::size_t max_waiting_calls = 1024;
  std::chrono::milliseconds idle_tool_thread{10'000};
  // Progress per call: a burst at once, then one message per interval.
  int progress_burst = 16;
  std::chrono::milliseconds progress_interval{100};
  // How long a client may take to answer what a call asks it.
  std::chrono::milliseconds answer_time{60'000};
  // After a stop request: how long running tools may take to return.
  std::chrono::milliseconds stop_grace{5'000};
};

struct ServerConfig {
  std::string name = "assay";
  std::string title = "Assay";
  std::string version{};
  std::string instructions{};
  std::vector<Tool> tools{};  // listed in this order
  Resources resources{};
  std::vector<Prompt> prompts{};  // listed in this order
  Tasks tasks{};
  // Tools send log messages to clients that want them.
  bool client_log = false;
  Log log{};
  Limits limits{};
  // Also checks every structured result against the tool's output schema and logs what it violates.
  bool check_results = false;
};

// The protocol's two byte streams.
struct StdioStreams {
  OwnedFd in{};
  OwnedFd out{};

  // Takes over file descriptors 0 and 1 of the process: private duplicates carry the protocol, 0
  // then reads as empty and 1 leads to stderr, so no library and no child can touch either stream.
  // Throws std::system_error if one of them is closed.
  [[nodiscard]] static StdioStreams take();
};

enum class Ended {
  input_ended,     // every accepted request has been answered (or was cancelled by the client)
  stop_requested,  // running calls were stopped and answered with an error
  output_broken,   // nobody reads any more; running calls were stopped
};

struct Outcome {
  Ended ended = Ended::input_ended;
  // Tool calls that were still running when the grace ended. Their threads are detached and still
  // use the tools: the process must end without destroying what the tools refer to.
  std::size_t abandoned_calls = 0;
};

class StdioServer {
 public:
  // Throws std::invalid_argument when a tool is not servable: no function, a name taken twice, a
  // schema whose root is no object or that uses a keyword the checker lacks.
  StdioServer(ServerConfig config, StdioStreams streams);
  ~StdioServer();
  StdioServer(const StdioServer&) = delete;
  StdioServer& operator=(const StdioServer&) = delete;

  // Serves until the input ends, the output breaks or `stop` is requested. Call it once.
  [[nodiscard]] Outcome run(const std::stop_token& stop);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with tool threads that were given up
};

}  // namespace assay::mcp
