// What a device said of its clocks, heat and power while a kernel was timed on it: whether the
// times can be compared with those of another hour. Not shared between threads.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/node/kernel_claim.h"

namespace assay::node {

// Of a device's highest clock, below which one is told from a device that idled (a tenth of it) and
// from one that is held down (to about three quarters, as nvbench has it); a device at work without
// either is above.
inline constexpr double kLowClock = 0.75;

// `facts` as the devices role tells them; 0: it does not.
[[nodiscard]] double highest_mhz(const nlohmann::json& facts);

class ClockLog {
 public:
  // The device's highest clock of its multiprocessors; 0: nobody says.
  explicit ClockLog(double highest_mhz) : highest_mhz_(highest_mhz) {}

  // Below which runs are not to be counted before the device was kept busy for a while.
  [[nodiscard]] double low_mhz() const { return kLowClock * highest_mhz_; }
  // Asking takes milliseconds: now and then is enough.
  [[nodiscard]] bool is_due() const;
  void note(const Turn& turn);
  [[nodiscard]] const nlohmann::json& state() const { return state_; }

  // body["clocks"], and a warning in body["warnings"] for clocks that moved, were held down or were
  // low throughout.
  void tell(nlohmann::json& body) const;

 private:
  [[nodiscard]] std::string reasons() const;
  void warn_of_low(nlohmann::json& warnings, double highest_seen_mhz) const;

  double highest_mhz_;
  double ramped_ms_ = 0;
  std::optional<double> ramped_from_mhz_{};
  std::vector<double> multiprocessors_mhz_{};        // of each turn
  nlohmann::json state_ = nlohmann::json::object();  // the device's, last seen
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::set<std::string> held_down_{};  // why its clocks were, at any turn
};

}  // namespace assay::node
