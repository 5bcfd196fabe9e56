// Stands before one GPU: who wants to use it asks here, and where it is in doubt the canary runs
// first (quarantine.h has the rules). Who asks meanwhile waits for what it shows.
//
// Any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/node/quarantine.h"

namespace assay::node {

class DeviceGuard {
 public:
  // "" if the device answered rightly, else what happened; nothing if it had no turn there, which
  // says nothing of the device. Blocks.
  using Canary = std::function<std::optional<std::string>(const std::stop_token& stop)>;

  explicit DeviceGuard(Canary canary) : canary_(std::move(canary)) {}
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  // False: it is shut away, or `stop` came first.
  [[nodiscard]] bool may_use(const std::stop_token& stop);
  void runner_failed(const std::string& why);
  [[nodiscard]] nlohmann::json told() const;
  [[nodiscard]] std::string why() const;

 private:
  class Proving;

  const Canary canary_;
  mutable std::mutex mutex_{};
  std::condition_variable_any proved_{};
  bool is_proving_ = false;  // a canary runs, without the lock
  Quarantine quarantine_{};
};

}  // namespace assay::node
