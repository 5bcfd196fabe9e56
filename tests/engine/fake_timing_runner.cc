// A runner for tests of what is timed: as kernel it takes as long as it likes, and cannot be
// captured in a graph; after that it is out of order, as a process may be. With arenas of
// kLeaningBytes it takes 80 us on fresh tensors and 1 us on those that a launch has left. As
// referee it finds nothing.
#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/frames/channel.h"

namespace {

using nlohmann::json;

constexpr std::uint64_t kLeaningBytes = 8192;

json taken(const json& order, bool leans, bool& is_broken) {
  json turn = {{"ending", "completed"}, {"samples_ns", json::array()}, {"launches", 0},
               {"clock_mhz", nullptr},  {"event_overhead_ns", 0},      {"note", ""}};
  if (leans) {
    const double ns = order.at("view") == "graph" ? 1'000 : 80'000;
    turn["samples_ns"] = std::vector<double>(order.at("runs").size(), ns);
    return turn;
  }
  if (order.at("view") == "graph") {
    is_broken = true;
    turn["note"] = "graph capture failed: no reason";
    return turn;
  }
  for (std::size_t i = 0; i < order.at("runs").size(); ++i) turn["samples_ns"].push_back(5'000);
  return turn;
}

json timed(const json& orders, bool leans, bool& is_broken) {
  json reply = {{"type", "timed"}, {"turns", json::array()}};
  for (const json& order : orders) {
    reply["turns"].push_back(taken(order, leans, is_broken));
    if (is_broken) break;
  }
  return reply;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  if (const auto code = confinement::enter_confinement(argc, argv)) return *code;
  frames::Channel channel(posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true);
  bool is_broken = false;
  bool leans = false;
  while (const auto request = channel.receive()) {
    frames::Frame reply;
    if (is_broken) return 1;
    if (request->type() == "time") {
      reply.body = timed(request->body.at("turns"), leans, is_broken);
    } else if (request->type() == "stage") {
      leans = request->body.at("arena_bytes") == kLeaningBytes;
      reply.body = {{"type", "staged"}, {"places", request->body.at("places")}};
    } else {
      reply.body = {{"type", "checked"}, {"said", request->body.at("slots")}};
    }
    channel.send(std::move(reply));
  }
  return 0;
}
