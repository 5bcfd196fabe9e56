// Whether a device that was found at a low clock has been kept busy for long enough: until its
// clock is where it should be and stays there, or does not rise any more, or for as long as anybody
// should wait. An idle device is at a tenth of its clock and takes some tens of milliseconds to
// leave it; one that an operator or a power cap holds lower stays there whatever it does.
//
// A value; the caller burns a slice, says what clock it ran at, and asks again.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace assay::runner {

class ClockRamp {
 public:
  static constexpr std::chrono::milliseconds kSlice{5};
  static constexpr std::chrono::milliseconds kLongest{200};

  explicit ClockRamp(double wanted_mhz) : wanted_mhz_(wanted_mhz) {}

  // After a slice at that clock, or one whose clock could not be told.
  void note(std::optional<double> mhz);
  [[nodiscard]] bool goes_on() const;

 private:
  double wanted_mhz_;
  std::vector<double> slices_mhz_{};
  bool is_blind_ = false;
};

}  // namespace assay::runner
