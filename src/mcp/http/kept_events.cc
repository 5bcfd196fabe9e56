#include "mcp/http/kept_events.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "mcp/http/event_stream.h"

namespace assay::mcp::http {
namespace {

// The whole text in decimal, without a sign or leading zeros: one number has one spelling.
std::optional<std::uint64_t> number_from(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, fault] = std::from_chars(digits.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  return number;
}

}  // namespace

std::string text(EventPlace place) {
  return std::to_string(place.stream) + '-' + std::to_string(place.event);
}

std::optional<EventPlace> place_from(std::string_view id) {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number_from(id.substr(0, dash));
  const auto event = number_from(id.substr(dash + 1));
  if (!stream || !event) return std::nullopt;
  return EventPlace{.stream = *stream, .event = *event};
}

KeptEvents::KeptEvents(HttpLimits limits, std::shared_ptr<Ledger> ledger)
    : limits_(limits), ledger_(std::move(ledger)) {}

KeptEvents::~KeptEvents() { ledger_->held_bytes -= bytes_; }

std::uint64_t KeptEvents::open() {
  streams_.emplace(++last_stream_, Stream{});
  return last_stream_;
}

std::string KeptEvents::add(std::uint64_t number, std::string_view message, Clock::time_point now) {
  Stream& stream = streams_.at(number);
  ++stream.last;
  std::string said = event("message", message, text({.stream = number, .event = stream.last}));
  if (said.size() > limits_.kept_bytes) {
    // What came before it is of no use without it.
    drop_all(stream);
    return said;
  }
  stream.events.push_back({.number = stream.last, .said = now, .text = said});
  stream.bytes += said.size();
  bytes_ += said.size();
  ledger_->held_bytes += said.size();
  ++events_;
  make_room();
  return said;
}

void KeptEvents::make_room() {
  while (events_ > limits_.kept_events)
    drop_oldest(fullest([](const Stream& stream) { return stream.events.size(); }));
  // Too much in all is paid for by the session that adds.
  while (bytes_ > 0 &&
         (bytes_ > limits_.kept_bytes || ledger_->held_bytes > limits_.kept_bytes_in_all))
    drop_oldest(fullest([](const Stream& stream) { return stream.bytes; }));
}

template <typename Amount>
KeptEvents::Stream& KeptEvents::fullest(Amount amount) {
  return std::max_element(streams_.begin(), streams_.end(),
                          [amount](const auto& one, const auto& other) {
                            return amount(one.second) < amount(other.second);
                          })
      ->second;
}

void KeptEvents::drop_oldest(Stream& stream) {
  const std::size_t size = stream.events.front().text.size();
  stream.events.pop_front();
  stream.bytes -= size;
  bytes_ -= size;
  ledger_->held_bytes -= size;
  --events_;
}

void KeptEvents::drop_all(Stream& stream) {
  while (!stream.events.empty()) drop_oldest(stream);
}

void KeptEvents::close(std::uint64_t number, Clock::time_point now) {
  streams_.at(number).ended = now;
  // Streams on which nothing was said take room too.
  if (++ended_ <= limits_.kept_events) return;
  const auto oldest = std::find_if(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second.ended.has_value();
  });
  drop_all(oldest->second);
  streams_.erase(oldest);
  --ended_;
}

std::optional<std::vector<std::string>> KeptEvents::after(EventPlace place) const {
  const auto found = streams_.find(place.stream);
  if (found == streams_.end() || place.event > found->second.last) return std::nullopt;
  const Stream& stream = found->second;
  std::vector<std::string> rest;
  for (const Event& kept : stream.events)
    if (kept.number > place.event) rest.push_back(kept.text);
  const bool has_last = !stream.events.empty() && stream.events.back().number == stream.last;
  if (stream.ended && place.event < stream.last && !has_last) return std::nullopt;
  return rest;
}

void KeptEvents::forget_old(Clock::time_point now) {
  for (auto entry = streams_.begin(); entry != streams_.end();) {
    Stream& stream = entry->second;
    while (!stream.events.empty() && now - stream.events.front().said > limits_.kept_time)
      drop_oldest(stream);
    if (!stream.ended || now - *stream.ended <= limits_.kept_time) {
      ++entry;
      continue;
    }
    entry = streams_.erase(entry);
    --ended_;
  }
}

}  // namespace assay::mcp::http
