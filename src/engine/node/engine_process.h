// The product's Engine: `assay engine` as a child, spoken to in frames. Started by the first call
// that needs it, started anew after it died (jobs it had are concluded `interrupted`).
//
// Threads: run() and capabilities() may be called by any number of threads; one thread of this
// object owns the channel. Destruction cancels what runs and waits for the engine to end.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/frames/channel.h"
#include "engine/node/engine.h"
#include "engine/node/link.h"

namespace assay::node {

struct EngineCommand {
  std::filesystem::path executable{};
  std::vector<std::string> arguments{};  // after argv[0]; the channel is descriptor 3
  // With work in flight an engine that says nothing for that long is killed.
  std::chrono::milliseconds silence = link::kSilence;
};

class EngineProcess final : public Engine {
 public:
  using Log = std::function<void(const std::string&)>;
  EngineProcess(EngineCommand command, Log log);
  ~EngineProcess() override;
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  Conclusion run(const Order& order, const std::function<void(const StageEvent&)>& on_stage,
                 const std::stop_token& stop) override;
  nlohmann::json capabilities() override;

  // The running engine's process, 0 if none: for tests that kill it.
  [[nodiscard]] int pid() const;

 private:
  struct Child;
  struct Mailbox;

  // The running child, started if need be. Throws if it cannot be started.
  std::shared_ptr<Child> running();
  [[nodiscard]] std::shared_ptr<Child> start() const;

  EngineCommand command_;
  Log log_;
  mutable std::mutex mutex_{};
  std::shared_ptr<Child> child_{};
};

}  // namespace assay::node
