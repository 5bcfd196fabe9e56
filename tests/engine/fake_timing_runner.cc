// A runner for tests of what is timed: as kernel it takes as long as it likes, and cannot be
// captured in a graph; after that it is out of order, as a process may be. Other sizes of its
// arenas make other kernels of it, which can be captured. As referee it finds nothing.
#include <chrono>
#include <thread>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/frames/channel.h"

namespace {

using nlohmann::json;

// 80 us on fresh tensors, 1 us on those that a launch has left.
constexpr std::uint64_t kLeaningBytes = 8192;
// 200 us, or twice that every other time: half its runs more do not settle what its median is.
constexpr std::uint64_t kRestlessBytes = 12'288;
// 10 us by its events, 40 by the host's clock.
constexpr std::uint64_t kHidingBytes = 16'384;
// 10 us by any clock, on a device that idled, where another process works.
constexpr std::uint64_t kIdleBytes = 20'480;

struct Kernel {
  std::uint64_t bytes = 0;
  std::uint32_t runs = 0;  // so far
};

void add_graph(const Kernel& kernel, json& turn) {
  constexpr double kSlopeNs = 10'000;
  constexpr double kLaunches = 64;
  turn["launches"] = 16;
  turn["wall"] = {{"launches", kLaunches},
                  {"wall_ns", kLaunches * kSlopeNs + 50'000},
                  {"events_ns", kLaunches * kSlopeNs}};
  if (kernel.bytes == kHidingBytes) {
    turn["wall"]["wall_ns"] = 4 * kLaunches * kSlopeNs;
    turn["wall"]["hidden_ns"] = 3 * kSlopeNs;
  }
}

json taken(const json& order, Kernel& kernel, bool& is_broken) {
  json turn = {{"ending", "completed"}, {"samples_ns", json::array()}, {"launches", 0},
               {"clock_mhz", nullptr},  {"event_overhead_ns", 0},      {"note", ""}};
  const bool is_graph = order.at("view") == "graph";
  const std::size_t runs = order.at("runs").size();
  if (kernel.bytes == kLeaningBytes) {
    turn["samples_ns"] = std::vector<double>(runs, is_graph ? 1'000 : 80'000);
    return turn;
  }
  if (kernel.bytes == kRestlessBytes) {
    const double usual_ns = is_graph ? 100'000 : 200'000;
    for (std::size_t i = 0; i < runs; ++i) {
      turn["samples_ns"].push_back(is_graph || kernel.runs++ % 2 == 0 ? usual_ns : 2 * usual_ns);
    }
    return turn;
  }
  if (kernel.bytes == kHidingBytes || kernel.bytes == kIdleBytes) {
    turn["samples_ns"] = std::vector<double>(runs, 10'000);
    if (is_graph) add_graph(kernel, turn);
  }
  if (kernel.bytes == kIdleBytes) {
    turn["clock_mhz"] = 1'900;
    if (order.at("ramp_below_mhz") > 345) turn["ramp"] = {{"from_mhz", 345}, {"ms", 60}};
    if (order.at("tell_state")) turn["state"] = {{"held_down", json::array()}};
    if (order.at("tell_neighbours")) turn["state"]["busy_pct"] = 90;
  }
  if (!turn["samples_ns"].empty()) return turn;
  if (is_graph) {
    is_broken = true;
    turn["note"] = "graph capture failed: no reason";
    return turn;
  }
  for (std::size_t i = 0; i < runs; ++i) turn["samples_ns"].push_back(5'000);
  return turn;
}

// What it says it took, it takes: the engine has a clock of its own.
json timed(const json& orders, Kernel& kernel, bool& is_broken) {
  json reply = {{"type", "timed"}, {"turns", json::array()}};
  std::chrono::duration<double, std::nano> took{0};
  for (const json& order : orders) {
    const json& turn = reply["turns"].emplace_back(taken(order, kernel, is_broken));
    for (const json& sample : turn.at("samples_ns")) took += decltype(took)(sample.get<double>());
    if (turn.contains("wall")) took += decltype(took)(turn.at("wall").at("wall_ns").get<double>());
    if (is_broken) break;
  }
  std::this_thread::sleep_for(took);
  return reply;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  if (const auto code = confinement::enter_confinement(argc, argv)) return *code;
  frames::Channel channel(posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true);
  bool is_broken = false;
  Kernel kernel;
  while (const auto request = channel.receive()) {
    frames::Frame reply;
    if (is_broken) return 1;
    if (request->type() == "time") {
      reply.body = timed(request->body.at("turns"), kernel, is_broken);
    } else if (request->type() == "stage") {
      kernel.bytes = request->body.at("arena_bytes");
      reply.body = {{"type", "staged"}, {"places", request->body.at("places")}};
    } else {
      reply.body = {{"type", "checked"}, {"said", request->body.at("slots")}};
    }
    channel.send(std::move(reply));
  }
  return 0;
}
