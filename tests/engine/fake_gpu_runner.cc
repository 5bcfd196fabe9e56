// A runner for tests of the pool: it has no device, and says that it is emptied whenever it is
// asked, unless it was told to "spoil" before; told to "tarry", it takes its time. What makes it
// ready to count has no answer. As a referee it hands on "compiled" where it was given nothing, and
// its arena is as long as what it was given.
#include <chrono>
#include <thread>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/frames/channel.h"

int main(int argc, char** argv) {
  using namespace assay;
  if (const auto code = confinement::enter_confinement(argc, argv)) return *code;
  frames::Channel channel(posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true);
  bool spoilt = false;
  bool tarries = false;
  bool counts = false;
  std::string given;
  while (const auto request = channel.receive()) {
    if (request->type() == "ready_counters") {
      counts = !request->body.at("groups").empty();
      continue;
    }
    spoilt = spoilt || request->type() == "spoil";
    tarries = tarries || request->type() == "tarry";
    if (tarries && request->type() == "reset") {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    frames::Frame reply;
    if (request->type() == "prepare") {
      given = request->blob;
      reply.body = {{"type", "prepared"}};
      if (given.empty()) reply.blob = "compiled";
      channel.send(std::move(reply));
      continue;
    }
    if (request->type() == "open") {
      reply.body = {{"type", "opened"},
                    {"total_bytes", given.size()},
                    {"on_device", true},
                    {"placements", nlohmann::json::array()}};
      channel.send(std::move(reply));
      continue;
    }
    reply.body = {{"type", spoilt                       ? "kept"
                           : request->type() == "close" ? "closed"
                                                        : request->type()},
                  {"counts", counts}};
    channel.send(std::move(reply));
  }
  return 0;
}
