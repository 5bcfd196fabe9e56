#include "engine/frames/outbox.h"

#include <poll.h>

#include <map>
#include <thread>
#include <vector>

#include "tests/catch.h"

using assay::frames::Caps;
using assay::frames::Channel;
using assay::frames::Frame;
using assay::frames::Outbox;
using assay::posix::make_socket_pair;

namespace {

struct Ends {
  Channel ours;
  Channel theirs;
};

Ends connect() {
  auto pair = make_socket_pair();
  return {Channel(std::move(pair.ours), Caps{}, true),
          Channel(std::move(pair.theirs), Caps{}, true)};
}

Frame numbered(int writer, int number, std::size_t blob_bytes = 0) {
  Frame frame;
  frame.body = {{"type", "note"}, {"writer", writer}, {"number", number}};
  frame.blob = std::string(blob_bytes, 'x');
  return frame;
}

bool is_woken(const Outbox& outbox) {
  pollfd entry{outbox.wake(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

TEST_CASE("a frame is out when it is posted, without the reader") {
  Ends ends = connect();
  Outbox outbox(ends.ours);
  outbox.post(numbered(0, 7));
  CHECK_FALSE(outbox.wants_write());
  CHECK_FALSE(is_woken(outbox));
  const auto got = ends.theirs.receive();
  REQUIRE(got);
  CHECK(got->body.at("number") == 7);
}

TEST_CASE("what the stream does not take wakes the reader, who flushes it") {
  Ends ends = connect();
  Outbox outbox(ends.ours);
  constexpr std::size_t kMuch = 8U << 20;
  outbox.post(numbered(0, 1, kMuch));
  outbox.post(numbered(0, 2));
  CHECK(outbox.wants_write());
  CHECK(is_woken(outbox));
  outbox.heed();
  CHECK_FALSE(is_woken(outbox));
  std::vector<int> numbers;
  while (numbers.size() < 2) {
    ends.theirs.read_available();
    while (auto frame = ends.theirs.next()) numbers.push_back(frame->body.at("number"));
    outbox.flush();
  }
  CHECK(numbers == std::vector{1, 2});
  CHECK_FALSE(outbox.wants_write());
}

TEST_CASE("frames of many threads arrive whole, each thread's in its order") {
  Ends ends = connect();
  Outbox outbox(ends.ours);
  constexpr int kWriters = 8;
  constexpr int kEach = 200;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) outbox.post(numbered(writer, i, 1000));
    });
  }
  std::map<int, int> next;
  for (int got = 0; got < kWriters * kEach;) {
    ends.theirs.read_available();
    while (auto frame = ends.theirs.next()) {
      CHECK(frame->body.at("number") == next[frame->body.at("writer")]++);
      ++got;
    }
    outbox.flush();
  }
  for (auto& writer : writers) writer.join();
}

TEST_CASE("what is posted after the end goes nowhere and harms nobody") {
  Ends ends = connect();
  Outbox outbox(ends.ours);
  outbox.close();
  outbox.post(numbered(0, 1));
  CHECK_FALSE(outbox.wants_write());
  CHECK_FALSE(ends.theirs.receive());
}
