// What a device said of its clocks, heat and power while a kernel was timed on it: whether the
// times can be compared with those of another hour. Not shared between threads.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/node/kernel_claim.h"

namespace assay::node {

class ClockLog {
 public:
  // Asking takes milliseconds: now and then is enough.
  [[nodiscard]] bool is_due() const;
  void note(const Turn& turn);

  // body["clocks"], and a warning in body["warnings"] for clocks that moved or were held down.
  void tell(nlohmann::json& body) const;

 private:
  std::vector<double> multiprocessors_mhz_{};        // of each turn
  nlohmann::json state_ = nlohmann::json::object();  // the device's, last seen
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::set<std::string> held_down_{};  // why its clocks were, at any turn
};

}  // namespace assay::node
