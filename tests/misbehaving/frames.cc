#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/confinement/child.h"
#include "engine/frames/channel.h"
#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

int say(const std::string& bytes) {
  const auto written = ::write(confinement::kChannelDescriptor, bytes.data(), bytes.size());
  return written == static_cast<ssize_t>(bytes.size()) ? 0 : 1;
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

std::string header(std::uint64_t body_bytes, std::uint64_t blob_bytes) {
  return "ASY1" + little_endian(body_bytes, 4) + little_endian(blob_bytes, 8) +
         std::string(8, '\0');
}

int garbage_frames(const Options&) {
  std::string noise;
  for (unsigned i = 0; i < 4096; ++i) noise += static_cast<char>((i * 2654435761U) >> 13);
  return say(noise);
}

int truncated_frame(const Options&) { return say(header(1000, 0) + R"({"type":"resu)"); }

int truncated_header(const Options&) { return say("ASY1\x10"); }

int oversize_header(const Options&) { return say(header(0xffffffff, 0x7fffffffffffffff)); }

int frame_of_no_json(const Options&) { return say(header(9, 0) + "{\"type\":]"); }

int deep_json(const Options&) {
  const std::string body(200'000, '[');
  return say(header(body.size(), 0) + body);
}

frames::Channel channel() {
  return {posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true};
}

// --type=TEXT is the verb of the reply.
frames::Frame reply(const Options& options) {
  frames::Frame frame;
  frame.body = {{"type", options.text("type", "result")}, {"ok", true}};
  return frame;
}

int reply_then_crash(const Options& options) {
  auto line = channel();
  if (!line.receive()) return 1;
  line.send(reply(options));
  ::signal(SIGABRT, SIG_DFL);
  std::abort();
}

int crash_when_asked(const Options&) {
  auto line = channel();
  if (!line.receive()) return 1;
  ::signal(SIGABRT, SIG_DFL);
  std::abort();
}

int wrong_reply(const Options& options) {
  auto line = channel();
  while (line.receive()) {
    line.send({.body = {{"type", options.text("type", "nonsense")}, {"ok", "perhaps"}}});
  }
  return 0;
}

int reply_twice(const Options& options) {
  auto line = channel();
  while (line.receive()) {
    line.send(reply(options));
    line.send(reply(options));
  }
  return 0;
}

constexpr Misdeed kFrames[] = {
    {"garbage_frames", "writes noise where a frame should be", garbage_frames},
    {"truncated_frame", "ends in the middle of a body", truncated_frame},
    {"truncated_header", "ends in the middle of a header", truncated_header},
    {"oversize_header", "announces more bytes than there are", oversize_header},
    {"frame_of_no_json", "sends a body that is no JSON", frame_of_no_json},
    {"deep_json", "sends JSON nested 200,000 deep", deep_json},
    {"reply_then_crash", "answers its first frame, then aborts; --type=TEXT", reply_then_crash},
    {"crash_when_asked", "aborts at its first frame", crash_when_asked},
    {"wrong_reply", "answers every frame with one of another type; --type=TEXT", wrong_reply},
    {"reply_twice", "answers every frame twice; --type=TEXT", reply_twice},
};

}  // namespace

std::span<const Misdeed> frames() { return kFrames; }

}  // namespace assay::misbehaving
