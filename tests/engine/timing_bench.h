// A bench for tests of timing: a referee, a kernel and its reference in real processes whose device
// is none (fake_timing_runner.cc). What was judged, found and renewed is kept for the test to see.
// One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/node/gpu_timing.h"
#include "engine/node/runners.h"
#include "tests/engine/fake_kernels.h"

namespace assay::timing_bench {

using nlohmann::json;

using namespace fake_kernels;

struct Bench {
  const node::Runners runners{ASSAY_BINARY_FOLDER "/fake_timing_runner",
                              {.level = confinement::Level::L1},
                              node::Toolkit{}};
  node::RefereeSession referee{runners.start(node::RunnerRole::referee), nullptr, {}};
  std::unique_ptr<node::KernelSession> kernel = session();
  std::unique_ptr<node::KernelSession> reference{};
  std::vector<bool> renewed{};          // of the reference, or of the kernel
  std::vector<std::uint32_t> judged{};  // trials
  json findings = json::array();
  bool is_doubtful = false;
  std::chrono::nanoseconds left = std::chrono::seconds(60);

  // Another program's: what it says of some arenas is another kernel's (fake_timing_runner.cc).
  static std::unique_ptr<node::KernelSession> idling() {
    const node::Runners runners{ASSAY_BINARY_FOLDER "/fake_idling_runner",
                                {.level = confinement::Level::L1},
                                node::Toolkit{}};
    return std::make_unique<node::KernelSession>(runners.start(node::RunnerRole::kernel),
                                                 node::RunnerRole::gpu_kernel, "/kernel",
                                                 std::stop_token());
  }

  std::unique_ptr<node::KernelSession> session() const {
    return std::make_unique<node::KernelSession>(runners.start(node::RunnerRole::kernel),
                                                 node::RunnerRole::gpu_kernel, "/kernel",
                                                 std::stop_token());
  }

  node::TimingRequest request(std::uint32_t trials, std::uint64_t bytes = 4096) {
    return {.trials = trials,
            .known_trials = 3,
            .arena_bytes = bytes,
            .fill = [bytes](std::uint32_t,
                            std::uint32_t) -> std::variant<node::LentArena, node::Ended> {
              return node::LentArena{.descriptor = posix::make_event(), .bytes = bytes};
            },
            .renew = [this](bool is_reference) -> std::variant<node::KernelSession*, node::Ended> {
              renewed.push_back(is_reference);
              auto& side = is_reference ? reference : kernel;
              side = session();
              return side.get();
            }};
  }

  json measure(node::TimingRequest wanted, std::optional<node::Ended>& ended) {
    node::GpuTiming timing(
        referee, *kernel, reference.get(), std::move(wanted),
        [&](std::uint32_t trial, const json& said) -> node::GpuTiming::Step {
          if (said.is_object()) {
            findings.push_back(said.at("findings").at(0));
          } else {
            judged.push_back(trial);
          }
          return std::nullopt;
        },
        left);
    json body = json::object();
    ended = timing.measure(body);
    body["unrepeatable"] = timing.is_unrepeatable();
    is_doubtful = timing.is_doubtful();
    return body;
  }
};

inline bool warns(const json& body, const std::string& code) {
  for (const auto& warning : body.at("warnings")) {
    if (warning.at("code") == code) return true;
  }
  return false;
}

}  // namespace assay::timing_bench
