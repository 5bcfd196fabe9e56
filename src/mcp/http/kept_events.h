// What was said on the streams of one session, kept for a while so that a client whose connection
// broke, or was told to come back (revision 2025-11-25), hears the rest by naming the last event it
// has: Last-Event-ID. An event's id is its place, "STREAM-EVENT", and means nothing outside its
// session. Numbers are never used twice.
//
// Bounded per session in events, bytes and age, and in bytes over all sessions. What there is too
// much of goes oldest first from the stream that holds most of it: who floods one stream loses no
// answer of another, and no other session's. Event thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/event_loop.h"
#include "mcp/http/http_config.h"

namespace assay::mcp::http {

struct EventPlace {
  std::uint64_t stream = 0;
  std::uint64_t event = 0;  // 0: before the first message
};

[[nodiscard]] std::string text(EventPlace place);
// Nothing: it is no id of ours.
[[nodiscard]] std::optional<EventPlace> place_from(std::string_view id);

class KeptEvents {
 public:
  // The bytes that all sessions hold together.
  struct Ledger {
    std::size_t held_bytes = 0;
  };

  KeptEvents(HttpLimits limits, std::shared_ptr<Ledger> ledger);
  ~KeptEvents();
  KeptEvents(const KeptEvents&) = delete;
  KeptEvents& operator=(const KeptEvents&) = delete;

  // The number of a new stream.
  [[nodiscard]] std::uint64_t open();
  // REQUIRES: the stream is open. The next event on it, as it is to be sent.
  [[nodiscard]] std::string add(std::uint64_t stream, std::string_view message,
                                Clock::time_point now);
  void close(std::uint64_t stream, Clock::time_point now);
  // What was said since, as it was sent, as far as it is still here. Nothing: there is no such
  // place, or the stream is over and its last event has gone, so that who waits for an answer would
  // wait in vain.
  [[nodiscard]] std::optional<std::vector<std::string>> after(EventPlace place) const;
  // Called every now and then.
  void forget_old(Clock::time_point now);

  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }

 private:
  struct Event {
    std::uint64_t number = 0;
    Clock::time_point said{};
    std::string text{};
  };
  struct Stream {
    std::deque<Event> events{};
    std::size_t bytes = 0;
    std::uint64_t last = 0;  // the number of the latest event, kept or not
    std::optional<Clock::time_point> ended{};
  };
  using Streams = std::map<std::uint64_t, Stream>;

  void drop_oldest(Stream& stream);
  void drop_all(Stream& stream);
  void make_room();
  // The stream that holds most, in whatever `amount` tells.
  template <typename Amount>
  [[nodiscard]] Stream& fullest(Amount amount);

  const HttpLimits limits_;
  const std::shared_ptr<Ledger> ledger_;
  Streams streams_{};
  std::uint64_t last_stream_ = 0;
  std::size_t events_ = 0;
  std::size_t bytes_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace assay::mcp::http
