// The sessions of legacy clients: an unguessable id, what `initialize` negotiated, the stream that
// its GET opened. A session belongs to the principal that made it; to anybody else it does not
// exist. Event thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/event_loop.h"
#include "mcp/http/http_config.h"
#include "mcp/http/kept_events.h"
#include "mcp/http/responder.h"
#include "mcp/peer.h"

namespace assay::mcp::http {

// 128 random bits in the form of a UUID. Throws std::system_error if the system has none.
[[nodiscard]] std::string random_id();

struct HttpSession {
  std::string id{};
  std::shared_ptr<Session> state = std::make_shared<Session>();
  // What its calls have said on streams. Shared with the peers of calls that outlive it.
  std::shared_ptr<KeptEvents> kept{};
  // The stream of its GET, if one is open.
  std::shared_ptr<Responder> stream{};
  Clock::time_point last_said = Clock::now();
  Clock::time_point last_used = Clock::now();
  // Exchanges under way; a session that has some does not expire.
  std::size_t exchanges = 0;
};

class Sessions {
 public:
  // `ended` is told of every session that ends, whatever ended it.
  Sessions(HttpLimits limits, std::function<void(HttpSession&)> ended);

  // Makes room first, at the cost of nobody else: of this principal's sessions the one that has
  // been idle longest ends. Null: it has none that is idle.
  [[nodiscard]] std::shared_ptr<HttpSession> add(const std::string& principal);
  // Null: there is none, or it is somebody else's. Otherwise it has just been used.
  [[nodiscard]] std::shared_ptr<HttpSession> find(std::string_view id,
                                                  const std::string& principal);
  void end(const std::string& id);
  void end_all();
  // Called every now and then: ends what nobody uses, forgets what is old, keeps silent streams
  // alive.
  void tick(Clock::time_point now);

  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  [[nodiscard]] static bool idle(const HttpSession& session) {
    return session.exchanges == 0 && !session.stream;
  }
  [[nodiscard]] bool full_for(const std::string& principal) const;
  [[nodiscard]] bool make_room(const std::string& principal);

  const HttpLimits limits_;
  std::function<void(HttpSession&)> ended_;
  const std::shared_ptr<KeptEvents::Ledger> kept_in_all_ = std::make_shared<KeptEvents::Ledger>();
  std::map<std::string, std::shared_ptr<HttpSession>, std::less<>> sessions_{};
};

}  // namespace assay::mcp::http
