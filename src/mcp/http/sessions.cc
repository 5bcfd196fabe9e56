#include "mcp/http/sessions.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "mcp/http/event_stream.h"

namespace assay::mcp::http {

std::string random_id() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += kDigits[bytes[i] >> 4U];
    id += kDigits[bytes[i] & 15U];
  }
  return id;
}

Sessions::Sessions(HttpLimits limits, std::function<void(HttpSession&)> ended)
    : limits_(limits), ended_(std::move(ended)) {}

std::shared_ptr<HttpSession> Sessions::add(const std::string& principal) {
  if (full_for(principal) && !make_room(principal)) return nullptr;
  auto session = std::make_shared<HttpSession>();
  session->id = random_id();
  session->state->principal = principal;
  session->kept = std::make_shared<KeptEvents>(limits_, kept_in_all_);
  sessions_.emplace(session->id, session);
  return session;
}

std::shared_ptr<HttpSession> Sessions::find(std::string_view id, const std::string& principal) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->state->principal != principal) return nullptr;
  found->second->last_used = Clock::now();
  return found->second;
}

void Sessions::end(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const std::shared_ptr<HttpSession> session = std::move(found->second);
  sessions_.erase(found);
  if (const auto stream = std::exchange(session->stream, nullptr)) stream->finish();
  ended_(*session);
}

void Sessions::end_all() {
  while (!sessions_.empty()) end(std::string(sessions_.begin()->first));
}

bool Sessions::full_for(const std::string& principal) const {
  if (sessions_.size() >= limits_.max_sessions) return true;
  const auto own = std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second->state->principal == principal;
  });
  return static_cast<std::size_t>(own) >= limits_.max_sessions_each;
}

bool Sessions::make_room(const std::string& principal) {
  const HttpSession* oldest = nullptr;
  for (const auto& [id, session] : sessions_) {
    if (!idle(*session) || session->state->principal != principal) continue;
    if (oldest == nullptr || session->last_used < oldest->last_used) oldest = session.get();
  }
  if (oldest == nullptr) return false;
  end(std::string(oldest->id));
  return true;
}

void Sessions::tick(Clock::time_point now) {
  std::vector<std::string> expired;
  for (const auto& [id, session] : sessions_) {
    session->kept->forget_old(now);
    if (idle(*session) && now - session->last_used > limits_.session_time) expired.push_back(id);
    if (session->stream && now - session->last_said >= limits_.keep_alive) {
      session->last_said = now;
      session->stream->write(keep_alive_comment());
    }
  }
  for (const std::string& id : expired) end(id);
}

}  // namespace assay::mcp::http
