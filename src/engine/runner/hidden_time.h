// Time that events of graphs hide from who reads them: looked for where a stretch of launches takes
// longer by the host's clock than its events say. Launching and waiting cost the same for N
// launches as for 2N, and a host that is away at times is not away each time: what grows with the
// launches by the least of several looks was hidden.
//
// A value; the caller looks, says what it saw, and asks again.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/runner/device.h"

namespace assay::runner {

class HiddenTime {
 public:
  static constexpr std::uint32_t kMostLooks = 8;

  // Of graphs of `launches` and twice as many, a launch of which takes `slope_ns` by its events.
  HiddenTime(std::uint32_t launches, double slope_ns) : launches_(launches), slope_ns_(slope_ns) {}

  // Whether a stretch takes so much longer than its events say that it is to be looked for.
  [[nodiscard]] static bool is_suspected(const Wall& wall);

  // By how much less the events of both graphs said than the host's clock, each by itself.
  void note(double once_ns, double twice_ns);
  [[nodiscard]] bool goes_on() const;
  // Of one launch; REQUIRES a look.
  [[nodiscard]] double ns() const { return (*twice_ns_ - *once_ns_) / launches_; }

 private:
  std::uint32_t launches_;
  double slope_ns_;
  std::uint32_t looks_ = 0;
  std::optional<double> once_ns_{};
  std::optional<double> twice_ns_{};
};

}  // namespace assay::runner
