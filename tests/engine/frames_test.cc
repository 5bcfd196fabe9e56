#include <poll.h>
#include <unistd.h>

#include <cstring>

#include "engine/frames/channel.h"
#include "tests/catch.h"

using assay::frames::Caps;
using assay::frames::Channel;
using assay::frames::Frame;
using assay::posix::Descriptor;
using assay::posix::make_socket_pair;
using assay::posix::SharedMemory;

namespace {

struct Ends {
  Channel ours;
  Channel theirs;
};

Ends connect(Caps caps = {}) {
  auto pair = make_socket_pair();
  return {Channel(std::move(pair.ours), caps, true), Channel(std::move(pair.theirs), caps, true)};
}

// A channel whose peer writes raw bytes.
std::pair<Channel, Descriptor> raw(Caps caps = {}) {
  auto pair = make_socket_pair();
  return {Channel(std::move(pair.ours), caps, true), std::move(pair.theirs)};
}

std::string header(std::uint32_t magic, std::uint32_t body, std::uint64_t blob,
                   std::uint32_t descriptors) {
  std::string bytes(24, '\0');
  std::memcpy(bytes.data(), &magic, 4);
  std::memcpy(bytes.data() + 4, &body, 4);
  std::memcpy(bytes.data() + 8, &blob, 8);
  std::memcpy(bytes.data() + 16, &descriptors, 4);
  return bytes;
}
constexpr std::uint32_t kMagic = 0x31595341;

Channel::State state_after(const std::string& bytes, Caps caps = {}) {
  auto [channel, peer] = raw(caps);
  REQUIRE(::write(peer.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  channel.read_available();
  return channel.state();
}

}  // namespace

TEST_CASE("a frame arrives as it was sent: body, blob and descriptors") {
  Ends ends = connect();
  Frame frame;
  frame.body = {{"type", "fill"}, {"trial", 7}};
  frame.blob = std::string("a\0b", 3);
  const SharedMemory memory = SharedMemory::create("test", 4096);
  memory.bytes()[100] = std::byte{42};
  frame.descriptors.push_back(memory.descriptor().duplicate());
  ends.ours.send(std::move(frame));

  auto got = ends.theirs.receive();
  REQUIRE(got);
  CHECK(got->type() == "fill");
  CHECK(got->body.at("trial") == 7);
  CHECK(got->blob == std::string("a\0b", 3));
  REQUIRE(got->descriptors.size() == 1);
  const auto adopted = SharedMemory::adopt(std::move(got->descriptors[0]), 4096);
  CHECK(adopted.bytes()[100] == std::byte{42});
}

TEST_CASE("frames sent back to back keep their descriptors apart") {
  Ends ends = connect();
  for (int i = 0; i < 3; ++i) {
    Frame frame;
    frame.body = {{"type", "n"}, {"i", i}};
    if (i != 1) {
      frame.descriptors.push_back(
          SharedMemory::create("test", static_cast<std::size_t>(i) + 1).descriptor().duplicate());
    }
    ends.ours.send(std::move(frame));
  }
  for (int i = 0; i < 3; ++i) {
    auto got = ends.theirs.receive();
    REQUIRE(got);
    CHECK(got->body.at("i") == i);
    REQUIRE(got->descriptors.size() == (i == 1 ? 0 : 1));
    if (i != 1) {
      CHECK_NOTHROW(
          SharedMemory::adopt(std::move(got->descriptors[0]), static_cast<std::size_t>(i) + 1));
    }
  }
}

TEST_CASE("what came together with a frame is there, though nothing more can be read") {
  Ends ends = connect();
  for (const int which : {1, 2}) {
    Frame frame;
    frame.body = {{"type", "fill"}, {"trial", which}};
    ends.ours.queue(std::move(frame));
  }
  CHECK_FALSE(ends.theirs.has_frame());
  ends.ours.flush();
  REQUIRE(ends.theirs.receive());
  CHECK(ends.theirs.has_frame());
  pollfd more{ends.theirs.descriptor(), POLLIN, 0};
  CHECK(::poll(&more, 1, 0) == 0);
  CHECK(ends.theirs.next()->body.at("trial") == 2);
  CHECK_FALSE(ends.theirs.has_frame());
}

TEST_CASE("a closed peer ends the channel; bytes cut inside a frame make it malformed") {
  {
    auto [channel, peer] = raw();
    peer.reset();
    channel.read_available();
    CHECK(channel.state() == Channel::State::ended);
  }
  auto [channel, peer] = raw();
  const std::string bytes = header(kMagic, 100, 0, 0);
  REQUIRE(::write(peer.get(), bytes.data(), bytes.size()) > 0);
  peer.reset();
  channel.read_available();
  CHECK(channel.state() == Channel::State::malformed);
}

TEST_CASE("what is no frame is refused before it costs memory") {
  CHECK(state_after(std::string(24, 'x')) == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 0xffffffff, 0, 0)) == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, ~0ULL, 0)) == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, 0, 1000)) == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, 0, 0) + "[]") == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, 0, 0) + "{x") == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, 0, 1) + "{}") == Channel::State::malformed);
  CHECK(state_after(header(kMagic, 2, 0, 0) + "{}") == Channel::State::open);
}

TEST_CASE("a body that recursion could not walk is refused") {
  const auto nested = [](std::size_t depth, const std::string& beside) {
    const std::string body = R"({"type":)" + beside + R"(,"x":)" + std::string(depth, '[') +
                             std::string(depth, ']') + "}";
    return header(kMagic, static_cast<std::uint32_t>(body.size()), 0, 0) + body;
  };
  CHECK(state_after(nested(20'000, R"("n")")) == Channel::State::malformed);
  CHECK(state_after(nested(20'000, R"("\"]]]")")) == Channel::State::malformed);
  CHECK(state_after(nested(1000, R"("n")")) == Channel::State::open);
  CHECK(state_after(nested(1, "\"" + std::string(20'000, '[') + "\"")) == Channel::State::open);
}

TEST_CASE("a flood of descriptors is refused") {
  Ends ends = connect({.descriptors = 2});
  for (int i = 0; i < 4; ++i) {
    Frame frame;
    frame.body = {{"type", "flood"}};
    for (int k = 0; k < 8; ++k) {
      frame.descriptors.push_back(SharedMemory::create("t", 1).descriptor().duplicate());
    }
    ends.ours.queue(std::move(frame));
  }
  ends.ours.flush();
  ends.theirs.read_available();
  CHECK(ends.theirs.state() == Channel::State::malformed);
}

TEST_CASE("a peer that never reads blocks nobody") {
  Ends ends = connect();
  for (int i = 0; i < 64; ++i) {
    Frame frame;
    frame.body = {{"type", "bulk"}};
    frame.blob = std::string(1 << 20, 'x');
    ends.ours.queue(std::move(frame));
    ends.ours.flush();
  }
  CHECK(ends.ours.wants_write());
}

TEST_CASE("text that is no UTF-8 is sent with replacement characters, not refused") {
  Ends ends = connect();
  Frame frame;
  frame.body = {{"type", "printf"}, {"text", "bad \xff byte"}};
  ends.ours.send(std::move(frame));
  auto got = ends.theirs.receive();
  REQUIRE(got);
  CHECK(got->body.at("text").get<std::string>().find("byte") != std::string::npos);
}
