// How metrics are counted on a chip: which of them it has, how counters are programmed for all of
// them together, and how many passes that takes. CUPTI knows it of every chip; no device is
// touched, and no right to read counters is needed.
//
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runner/cupti_library.h"

namespace assay::runner {

class MetricPlan {
 public:
  // Borrows `library`. `availability`: what a device tells of its counters; null: all that its chip
  // has. Without any metric that the chip has it takes no pass. Throws cupti::Missing.
  MetricPlan(const cupti::Library& library, const char* chip, const std::uint8_t* availability,
             const std::vector<std::string>& metrics);
  ~MetricPlan();
  MetricPlan(const MetricPlan&) = delete;
  MetricPlan& operator=(const MetricPlan&) = delete;

  [[nodiscard]] std::size_t passes() const { return passes_; }
  [[nodiscard]] void* host() const { return host_; }
  [[nodiscard]] const std::vector<std::uint8_t>& image() const { return image_; }
  // Those that the chip has, in their order, and again as CUPTI takes them.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::vector<const char*> pointers() const;
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }

 private:
  void add(const std::vector<std::string>& metrics);
  void configure();

  const cupti::Library& library_;
  void* host_ = nullptr;
  std::vector<std::string> names_{};
  std::vector<std::string> refused_{};
  std::vector<std::uint8_t> image_{};
  std::size_t passes_ = 0;
};

// How metrics must be divided: those that count instructions by kind ("__sass_") share one counter,
// and of several in a session each shows the first's value (seen with CUPTI 13.0, whatever the
// replay).
[[nodiscard]] std::vector<std::vector<std::string>> sessions_of(
    const std::vector<std::string>& metrics);

// What groups of metrics cost, each counted by itself; remembered, since the answer for some takes
// a twentieth of a second.
class PassCounts {
 public:
  // `chip` as CUPTI names it; "": the chip of the process's one device.
  explicit PassCounts(std::string library, std::string chip = {});
  // Nothing if the library or the chip is not known.
  [[nodiscard]] std::optional<std::size_t> of(const std::vector<std::string>& metrics);

 private:
  [[nodiscard]] std::optional<std::size_t> count(const std::vector<std::string>& metrics);

  std::string path_;
  std::string chip_;
  std::unique_ptr<cupti::Library> library_{};
  std::map<std::vector<std::string>, std::optional<std::size_t>> known_{};
};

}  // namespace assay::runner
