#include "mcp/http/site_endpoint.h"

#include <exception>
#include <system_error>
#include <utility>

namespace assay::mcp::http {
namespace {

constexpr std::size_t kQuickThreads = 8;
constexpr std::size_t kSlowThreads = 64;
// Requests that only wait, of each of the two kinds.
constexpr std::size_t kMaxAside = 1024;
constexpr std::size_t kMaxWaiting = 4096;
constexpr std::chrono::milliseconds kIdleThread{10'000};
// A request costs its bookkeeping besides its bytes.
constexpr std::size_t kOverheadBytes = 4096;

bool changes_nothing(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
}

}  // namespace

SiteEndpoint::SiteEndpoint(Site site, std::size_t max_pending_bytes, EventLoop& loop, Log log)
    : site_(std::move(site)),
      max_pending_bytes_(max_pending_bytes),
      loop_(loop),
      log_(std::move(log)),
      quick_(kQuickThreads, kIdleThread, kMaxAside),
      slow_(kSlowThreads, kIdleThread, kMaxAside) {}

void SiteEndpoint::handle(HttpRequest request, const std::string& principal,
                          const std::shared_ptr<Responder>& responder) {
  const std::size_t bytes = request.body.size() + kOverheadBytes;
  if (visits_.size() >= kMaxWaiting || pending_bytes_ + bytes > max_pending_bytes_) {
    HttpAnswer busy = site_.refusal(503, "too much is waiting to be answered; try again");
    busy.fields.push_back({"Retry-After", "1"});
    return responder->answer(std::move(busy));
  }
  const std::uint64_t serial = ++last_serial_;
  Pending pending{.responder = responder, .bytes = bytes};
  ToolPool& pool = changes_nothing(request) ? quick_ : slow_;
  auto visit = std::make_shared<Visit>(
      Visit{.request = std::move(request),
            .principal = principal,
            .stop = pending.stop.get_token(),
            .step_aside = [&pool, principal] { return pool.step_aside(principal); }});
  pending_bytes_ += bytes;
  visits_.emplace(serial, std::move(pending));
  responder->when_gone([this, serial] { leave(serial); });
  try {
    pool.submit([this, serial, visit = std::move(visit)] {
      auto said = std::make_shared<HttpAnswer>(guarded(*visit));
      loop_.post([this, serial, said] { answer(serial, std::move(*said)); });
    });
  } catch (const std::system_error& error) {
    answer(serial, site_.refusal(503, std::string("no thread for this request: ") + error.what()));
  }
}

HttpAnswer SiteEndpoint::guarded(const Visit& visit) const {
  try {
    // It left while it waited for a thread.
    if (visit.stop.stop_requested()) return {.status = 503};
    return site_.answer(visit);
  } catch (const std::exception& error) {
    if (log_) log_(Level::error, visit.request.path + " threw: " + error.what());
    return site_.refusal(500, std::string("internal error: ") + error.what());
  }
}

void SiteEndpoint::answer(std::uint64_t serial, HttpAnswer answer) {
  const auto visit = visits_.extract(serial);
  if (visit.empty()) return;
  pending_bytes_ -= visit.mapped().bytes;
  visit.mapped().responder->answer(std::move(answer));
}

void SiteEndpoint::leave(std::uint64_t serial) {
  auto visit = visits_.extract(serial);
  if (visit.empty()) return;
  pending_bytes_ -= visit.mapped().bytes;
  visit.mapped().stop.request_stop();
}

HttpAnswer SiteEndpoint::refusal(HttpAnswer refused) const {
  HttpAnswer answer = site_.refusal(refused.status, std::string(reason_of(refused.status)));
  for (Field& field : refused.fields) answer.fields.push_back(std::move(field));
  return answer;
}

void SiteEndpoint::stop_all() {
  for (auto& [serial, visit] : std::exchange(visits_, {})) {
    visit.responder->answer(site_.refusal(503, "the server is stopping"));
    visit.stop.request_stop();
  }
  pending_bytes_ = 0;
}

std::size_t SiteEndpoint::drain(std::chrono::milliseconds grace,
                                const std::shared_ptr<void>& owner) {
  return quick_.drain(grace, owner) + slow_.drain(grace, owner);
}

}  // namespace assay::mcp::http
