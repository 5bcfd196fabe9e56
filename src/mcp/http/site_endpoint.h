// A site's requests: each is answered on a pool thread; one that waits steps aside (Visit), so that
// it holds nobody up. Requests that change nothing (GET) have a pool of their own: they are quick,
// and not to be made wait by those that are not. A visitor who goes away stops what it asked for.
// Event thread only.
//
//   more requests wait than the server can hold     503, Retry-After
//   the site throws                                 500
//   the server ends                                 503
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "mcp/event_loop.h"
#include "mcp/http/responder.h"
#include "mcp/http/site.h"
#include "mcp/log.h"
#include "mcp/tool_pool.h"

namespace assay::mcp::http {

class SiteEndpoint {
 public:
  // `loop` must outlive this object.
  SiteEndpoint(Site site, std::size_t max_pending_bytes, EventLoop& loop, Log log);
  SiteEndpoint(const SiteEndpoint&) = delete;
  SiteEndpoint& operator=(const SiteEndpoint&) = delete;

  [[nodiscard]] bool serves(const HttpRequest& request) const {
    return site_.serves && site_.serves(request);
  }
  [[nodiscard]] bool is_public(const HttpRequest& request) const {
    return site_.is_public && site_.is_public(request);
  }
  // REQUIRES serves(request).
  void handle(HttpRequest request, const std::string& principal,
              const std::shared_ptr<Responder>& responder);
  // There is a site, whatever it serves.
  [[nodiscard]] bool is_there() const { return static_cast<bool>(site_.serves); }
  // `refused` as the site would say it. REQUIRES is_there().
  [[nodiscard]] HttpAnswer refusal(HttpAnswer refused) const;

  void stop_all();
  // As ToolPool::drain.
  [[nodiscard]] std::size_t drain(std::chrono::milliseconds grace,
                                  const std::shared_ptr<void>& owner);
  [[nodiscard]] std::size_t pending() const { return visits_.size(); }

 private:
  struct Pending {
    std::shared_ptr<Responder> responder{};
    std::stop_source stop{};
    std::size_t bytes = 0;
  };

  [[nodiscard]] HttpAnswer guarded(const Visit& visit) const;
  void answer(std::uint64_t serial, HttpAnswer answer);
  void leave(std::uint64_t serial);

  const Site site_;
  const std::size_t max_pending_bytes_;
  EventLoop& loop_;
  const Log log_;
  std::uint64_t last_serial_ = 0;
  std::size_t pending_bytes_ = 0;
  std::map<std::uint64_t, Pending> visits_{};
  ToolPool quick_;
  ToolPool slow_;  // last: the threads use everything above
};

}  // namespace assay::mcp::http
