// What the owner of an HTTP server decides: where it listens, who may speak to it, how much of
// everything it allows.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcp/http/access.h"
#include "mcp/http/site.h"
#include "mcp/http/tls_files.h"

namespace assay::mcp::http {

struct HttpLimits {
  // Beyond it: 413. Two sources fit, however they are escaped, as over stdio.
  std::size_t max_body_bytes = std::size_t{16} << 20;
  std::size_t max_header_bytes = std::size_t{16} << 10;  // beyond it: 431
  // Beyond it the connection that has waited longest for a request, or the rest of its head, gives
  // way; if all are busy: 503, and closed.
  std::size_t max_connections = 512;
  // Beyond either, the caller's own session that was idle longest ends; if all are busy: 503.
  std::size_t max_sessions = 1000;
  std::size_t max_sessions_each = 1000;  // of one principal
  std::size_t max_batch = 100;           // messages in one body (revision 2025-03-26)
  // Bytes a client has not taken yet; beyond it the connection is dropped.
  std::size_t max_unsent_bytes = std::size_t{64} << 20;
  std::chrono::milliseconds header_time{10'000};      // from the first byte to the empty line: 408
  std::chrono::milliseconds body_time{60'000};        // from the empty line to the last byte: 408
  std::chrono::milliseconds idle_time{75'000};        // between two requests
  std::chrono::milliseconds half_closed_time{1'000};  // an answer to a client that sends no more
  std::chrono::milliseconds unread_time{30'000};      // a write that makes no progress
  std::chrono::milliseconds session_time{3'600'000};  // a session that nobody uses
  // A request that has been silent this long is answered by a stream, so that it can be kept alive.
  std::chrono::milliseconds silence{2'000};
  std::chrono::milliseconds keep_alive{15'000};
  // What was said on streams, for clients that come back for it: per session, and in all. Beyond
  // any of these the oldest is forgotten.
  std::size_t kept_events = 256;
  std::size_t kept_bytes = std::size_t{1} << 20;
  std::size_t kept_bytes_in_all = std::size_t{64} << 20;
  std::chrono::milliseconds kept_time{300'000};
  // When a client whose stream ended before its answer should come back.
  std::chrono::milliseconds retry{1'000};
  // How often the deadlines above are looked at.
  std::chrono::milliseconds tick{250};
};

struct HttpConfig {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  // 0: any free one
  AccessRules access{};
  HttpLimits limits{};
  Site site{};
  std::optional<TlsFiles> tls{};  // nothing: in the clear
};

}  // namespace assay::mcp::http
