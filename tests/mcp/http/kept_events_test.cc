// What is kept of streams, against a list that is searched and shortened in the plainest way, and
// what nobody can make it hold.
#include "mcp/http/kept_events.h"

#include <algorithm>
#include <random>
#include <set>

#include "mcp/http/event_stream.h"
#include "tests/catch.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<KeptEvents::Ledger> ledger() { return std::make_shared<KeptEvents::Ledger>(); }

// The same promises, kept by looking at everything every time.
class PlainList {
 public:
  explicit PlainList(HttpLimits limits) : limits_(limits) {}

  void open() { streams_.push_back({}); }
  void add(std::uint64_t stream, const std::string& text, Clock::time_point now) {
    ++of(stream).said;
    said_.push_back({stream, of(stream).said, text, now});
    while (said_.size() > limits_.kept_events) drop(stream_with_most(/*bytes=*/false));
    while (bytes() > limits_.kept_bytes) drop(stream_with_most(/*bytes=*/true));
  }
  void close(std::uint64_t stream, Clock::time_point now) {
    of(stream).ended = now;
    const auto is_over = [](const Stream& one) { return one.ended && !one.forgotten; };
    if (static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(), is_over)) <=
        limits_.kept_events)
      return;
    const auto oldest = std::find_if(streams_.begin(), streams_.end(), is_over);
    oldest->forgotten = true;
    const auto number = static_cast<std::uint64_t>(oldest - streams_.begin()) + 1;
    std::erase_if(said_, [&](const Said& one) { return one.stream == number; });
  }
  void forget_old(Clock::time_point now) {
    std::erase_if(said_, [&](const Said& one) { return now - one.when > limits_.kept_time; });
    for (Stream& stream : streams_)
      if (stream.ended && now - *stream.ended > limits_.kept_time) stream.forgotten = true;
  }
  [[nodiscard]] std::optional<Texts> after(EventPlace place) {
    if (place.stream == 0 || place.stream > streams_.size()) return std::nullopt;
    const Stream& stream = of(place.stream);
    if (stream.forgotten || place.event > stream.said) return std::nullopt;
    Texts rest;
    bool has_last = place.event == stream.said;
    for (const Said& one : said_) {
      if (one.stream != place.stream || one.number <= place.event) continue;
      rest.push_back(one.text);
      has_last = has_last || one.number == stream.said;
    }
    if (stream.ended && !has_last) return std::nullopt;
    return rest;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Said& one : said_) sum += one.text.size();
    return sum;
  }
  [[nodiscard]] std::size_t events() const { return said_.size(); }

 private:
  struct Said {
    std::uint64_t stream;
    std::uint64_t number;
    std::string text;
    Clock::time_point when;
  };
  struct Stream {
    std::uint64_t said = 0;
    std::optional<Clock::time_point> ended{};
    bool forgotten = false;
  };

  Stream& of(std::uint64_t stream) { return streams_.at(stream - 1); }
  [[nodiscard]] std::uint64_t stream_with_most(bool bytes) const {
    std::vector<std::size_t> held(streams_.size() + 1);
    for (const Said& one : said_) held[one.stream] += bytes ? one.text.size() : 1;
    return static_cast<std::uint64_t>(std::max_element(held.begin(), held.end()) - held.begin());
  }
  void drop(std::uint64_t stream) {
    said_.erase(std::find_if(said_.begin(), said_.end(),
                             [&](const Said& one) { return one.stream == stream; }));
  }

  HttpLimits limits_;
  std::vector<Said> said_{};
  std::vector<Stream> streams_{};
};

}  // namespace

TEST_CASE("an event's id has one spelling, and nothing else is one", "[http]") {
  for (const EventPlace place : {EventPlace{1, 0}, EventPlace{7, 12}, EventPlace{~0ULL, ~0ULL}}) {
    const auto read = place_from(text(place));
    REQUIRE(read);
    CHECK(read->stream == place.stream);
    CHECK(read->event == place.event);
  }
  for (const char* id : {"",
                         "-",
                         "1",
                         "1-",
                         "-1",
                         "+1-2",
                         "1-+2",
                         "01-2",
                         "1-02",
                         "1-2-3",
                         "1-2 ",
                         " 1-2",
                         "1-2, 1-2",
                         "a-b",
                         "0x1-2",
                         "1--2",
                         "18446744073709551616-1",
                         "1-99999999999999999999999999",
                         "1-2\n",
                         "null"}) {
    INFO(id);
    CHECK_FALSE(place_from(id));
  }
}

TEST_CASE("what is kept is what the plainest list would keep", "[http]") {
  const HttpLimits limits{
      .kept_events = 12, .kept_bytes = 900, .kept_time = std::chrono::seconds(40)};
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    KeptEvents kept(limits, ledger());
    PlainList plain(limits);
    std::vector<std::uint64_t> open;
    std::uint64_t streams = 0;
    std::set<std::string> ids;
    Clock::time_point now{};
    for (int step = 0; step < 300; ++step) {
      now += std::chrono::seconds(below(4));
      const unsigned what = below(10);
      if (what == 0 || open.empty()) {
        open.push_back(kept.open());
        plain.open();
        CHECK(open.back() == ++streams);
      } else if (what == 1) {
        const auto leaving = open.begin() + below(static_cast<unsigned>(open.size()));
        kept.close(*leaving, now);
        plain.close(*leaving, now);
        open.erase(leaving);
      } else if (what == 2) {
        kept.forget_old(now);
        plain.forget_old(now);
      } else {
        const std::uint64_t stream = open[below(static_cast<unsigned>(open.size()))];
        const std::string said = kept.add(stream, std::string(below(200), 'x'), now);
        plain.add(stream, said, now);
        CHECK(ids.insert(said.substr(0, said.find("\ndata: "))).second);
      }
      REQUIRE(kept.events() == plain.events());
      REQUIRE(kept.bytes() == plain.bytes());
      const EventPlace asked{.stream = below(static_cast<unsigned>(streams) + 2),
                             .event = below(12)};
      REQUIRE(kept.after(asked) == plain.after(asked));
    }
  }
}

TEST_CASE("who floods one stream loses no answer of another", "[http]") {
  KeptEvents kept({.kept_events = 20}, ledger());
  const auto quiet = kept.open();
  const std::string answer = kept.add(quiet, "answer", Clock::now());
  kept.close(quiet, Clock::now());
  const auto loud = kept.open();
  for (int i = 0; i < 1000; ++i) static_cast<void>(kept.add(loud, "x", Clock::now()));
  CHECK(kept.events() == 20);
  CHECK(kept.after({.stream = quiet, .event = 0}) == Texts{answer});
  CHECK(kept.after({.stream = loud, .event = 0})->size() == 19);
}

TEST_CASE("what all sessions hold has an end, at the cost of who adds", "[http]") {
  const auto all = ledger();
  const HttpLimits limits{.kept_bytes_in_all = 10'000};
  KeptEvents first(limits, all);
  const auto place = EventPlace{.stream = first.open(), .event = 0};
  const std::string answer = first.add(place.stream, std::string(4000, 'a'), Clock::now());
  {
    std::vector<std::unique_ptr<KeptEvents>> others;
    for (int i = 0; i < 50; ++i) {
      others.push_back(std::make_unique<KeptEvents>(limits, all));
      const auto stream = others.back()->open();
      for (int k = 0; k < 5; ++k)
        static_cast<void>(others.back()->add(stream, std::string(900, 'b'), Clock::now()));
      CHECK(all->held_bytes <= limits.kept_bytes_in_all);
    }
    CHECK(first.after(place) == Texts{answer});
    CHECK(all->held_bytes > first.bytes());
  }
  CHECK(all->held_bytes == first.bytes());
}

TEST_CASE("an event that is larger than what may be kept is sent and not kept", "[http]") {
  KeptEvents kept({.kept_bytes = 500}, ledger());
  const auto stream = kept.open();
  static_cast<void>(kept.add(stream, "step", Clock::now()));
  const std::string large(501, 'x');
  const std::string said = kept.add(stream, large, Clock::now());
  CHECK(said == event("message", large, "1-2"));
  CHECK(kept.bytes() == 0);
  CHECK(kept.after({.stream = stream, .event = 1}) == Texts{});
  kept.close(stream, Clock::now());
  // There is no answer to come back for; who has it, has all.
  CHECK_FALSE(kept.after({.stream = stream, .event = 1}));
  CHECK(kept.after({.stream = stream, .event = 2}) == Texts{});
}

TEST_CASE("streams that are over are forgotten, in number and in time", "[http]") {
  KeptEvents kept({.kept_events = 10, .kept_time = std::chrono::minutes(5)}, ledger());
  const auto now = Clock::now();
  const auto running = kept.open();
  for (int i = 0; i < 1000; ++i) kept.close(kept.open(), now);
  CHECK(kept.streams() == 11);
  CHECK_FALSE(kept.after({.stream = 2, .event = 0}));
  CHECK(kept.after({.stream = 1001, .event = 0}) == Texts{});
  kept.forget_old(now + std::chrono::minutes(4));
  CHECK(kept.streams() == 11);
  kept.forget_old(now + std::chrono::minutes(6));
  CHECK(kept.streams() == 1);
  // One that is not over is known as long as it lasts.
  CHECK(kept.after({.stream = running, .event = 0}) == Texts{});
  const std::string late = kept.add(running, "late", now + std::chrono::minutes(6));
  CHECK(kept.after({.stream = running, .event = 0}) == Texts{late});
}
