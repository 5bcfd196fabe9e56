// What state a GPU is in while it is measured, as the driver's management library tells: clocks,
// why they are held down, temperature, power, and who else is there. Found at run time; a reading
// that is not to be had is left out.
//
// One per runner; one thread. Reading takes some hundred microseconds: never between two events.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::runner {

struct GpuState {
  std::optional<unsigned> sm_mhz{};
  std::optional<unsigned> memory_mhz{};
  std::optional<unsigned> temperature_c{};
  std::optional<double> power_w{};
  std::optional<unsigned> processes{};   // with a context on the device, this one too
  std::vector<std::string> held_down{};  // why clocks are lower than they could be
  bool is_set_lower = false;             // an operator has said that they be
  // Asked only with Look::neighbours. The driver names processes of the asker's own pid namespace.
  std::vector<unsigned> pids{};
  struct Working {
    unsigned pid = 0;
    unsigned sm_pct = 0;  // of the time of the driver's last sample
  };
  std::vector<Working> working{};
  std::optional<unsigned> busy_pct{};  // of the driver's last sample, whoever worked
};
enum class Look { state, neighbours };

class Nvml {
 public:
  // `pci`: the device's bus id. Never throws: without the library every reading is empty.
  explicit Nvml(const std::string& pci);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] GpuState read(Look look) const;

 private:
  struct Functions;
  void read_neighbours(GpuState& state) const;
  void read_working(GpuState& state, unsigned long long since_us) const;

  std::unique_ptr<const Functions> functions_;
  void* device_ = nullptr;
};

}  // namespace assay::runner
