// The kernel runner's role on a thread of its own, spoken to as the engine does.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/frames/channel.h"
#include "engine/posix/descriptor.h"
#include "engine/runner/role.h"

namespace assay {

class ServedRole {
 public:
  explicit ServedRole(runner::Device& device) : engine_({}, {}, true) {
    auto pair = posix::make_socket_pair();
    engine_ = frames::Channel(std::move(pair.ours), frames::Caps{}, true);
    thread_ = std::thread(
        [this, &device, stream = std::make_shared<posix::Descriptor>(std::move(pair.theirs))] {
          frames::Channel channel(std::move(*stream), frames::Caps{}, true);
          try {
            code_ = runner::serve_kernel_on(device, channel);
          } catch (const std::exception& error) {
            ours_ = error.what();
          }
        });
  }
  ~ServedRole() { end(); }

  nlohmann::json ask(nlohmann::json body, std::string blob = {},
                     std::vector<posix::Descriptor> descriptors = {}) {
    frames::Frame frame;
    frame.body = std::move(body);
    frame.blob = std::move(blob);
    frame.descriptors = std::move(descriptors);
    engine_.send(std::move(frame));
    auto reply = engine_.receive();
    return reply ? reply->body : nlohmann::json(nullptr);
  }
  // What has no answer.
  void post(nlohmann::json body) {
    frames::Frame frame;
    frame.body = std::move(body);
    engine_.send(std::move(frame));
  }
  nlohmann::json profile(const nlohmann::json& arguments, const posix::SharedMemory& arena,
                         nlohmann::json order) {
    std::vector<posix::Descriptor> descriptors;
    descriptors.push_back(arena.descriptor().duplicate());
    order.update({{"type", "profile"},
                  {"grid", {2, 1, 1}},
                  {"block", {32, 1, 1}},
                  {"shared_bytes", 64},
                  {"arguments", arguments},
                  {"arena_bytes", arena.bytes().size()},
                  {"limit_ns", 1'000'000'000}});
    return ask(std::move(order), {}, std::move(descriptors));
  }
  nlohmann::json load(const nlohmann::json& arguments, const std::string& kernel = "") {
    return ask({{"type", "load"}, {"kernel", kernel}, {"arguments", arguments}}, "a program");
  }
  nlohmann::json run(const nlohmann::json& arguments, const posix::SharedMemory& arena,
                     bool fresh = false) {
    std::vector<posix::Descriptor> descriptors;
    descriptors.push_back(arena.descriptor().duplicate());
    return ask({{"type", "run"},
                {"grid", {2, 1, 1}},
                {"block", {32, 1, 1}},
                {"shared_bytes", 64},
                {"arguments", arguments},
                {"budget",
                 {{"thread_instructions", 1000},
                  {"wall_ns", 1'000'000},
                  {"memory_bytes", 1 << 20},
                  {"threads", 1}}},
                {"fresh_module", fresh},
                {"arena_bytes", arena.bytes().size()}},
               {}, std::move(descriptors));
  }
  // What the role threw, or nothing.
  std::string end() {
    engine_.close();
    if (thread_.joinable()) thread_.join();
    return ours_;
  }

 private:
  frames::Channel engine_;
  std::thread thread_{};
  int code_ = -1;
  std::string ours_{};
};

}  // namespace assay
