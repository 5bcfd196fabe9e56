// Frames from a peer that says anything. The claims: nothing crashes or waits for ever; no frame is
// beyond its caps; the channel ends, or is malformed and says why; what was read can be sent and is
// read as the same.
#include <sys/socket.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "engine/frames/channel.h"
#include "tests/fuzz/codec_fuzz.h"

namespace {

using namespace assay;

constexpr std::size_t kMostBytes = 64U << 10;  // what a socket takes without a reader

void require(bool holds) {
  if (!holds) std::abort();
}

std::pair<posix::Descriptor, posix::Descriptor> sockets() {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  return {posix::Descriptor(ends[0]), posix::Descriptor(ends[1])};
}

frames::Caps caps() { return {}; }

void check_again(const frames::Frame& frame) {
  auto [here, there] = sockets();
  frames::Channel to(std::move(here), caps(), true);
  frames::Channel from(std::move(there), caps(), true);
  frames::Frame copy;
  copy.body = frame.body;
  to.send(std::move(copy));
  const auto again = from.receive();
  require(again && again->body == frame.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::size_t taken = std::min(size, kMostBytes);
  auto [theirs, ours] = sockets();
  if (taken > 0) (void)::send(theirs.get(), data, taken, MSG_NOSIGNAL | MSG_DONTWAIT);
  theirs.reset();
  frames::Channel channel(std::move(ours), caps(), true);
  while (const auto frame = channel.receive()) check_again(*frame);
  require(channel.state() != frames::Channel::State::open);
  require((channel.state() == frames::Channel::State::malformed) == !channel.complaint().empty());
  return 0;
}
