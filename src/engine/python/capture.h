// What one call of a Python source makes the device do: kernels, copies and fills, in order, as the
// driver is told of them. CUPTI shows every call of the driver that this process makes, whoever
// makes it: Triton, CuPy, torch, a wrapper of ours, a library.
//
// The process runs the user's code: what is written down here is a claim
// (engine/node/lift_claim.h), which counts for nothing unless a process without Python repeats it
// on other inputs and is right.
//
// One per process; callbacks come from any thread.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/python/driver_calls.h"
#include "engine/python/programs_seen.h"

namespace assay::python {

class Capture {
 public:
  static Capture& one();

  // From here on programs are noted as they are loaded. "" or why there can be no capture.
  [[nodiscard]] std::string open();
  // What happens between is written down.
  void begin();
  void end();

  // {refused, regions: [[address, bytes]], steps: […]}; the parameters of its launches, one after
  // the other.
  [[nodiscard]] std::string told() const;
  [[nodiscard]] const std::string& parameters() const { return parameters_; }
  [[nodiscard]] const ProgramsSeen& programs() const { return programs_; }

  // CUPTI's: `data` is a driver::Call or driver::Resource.
  void called(int domain, std::uint32_t id, const void* data);

 private:
  Capture() = default;

  [[nodiscard]] std::string find_driver();
  [[nodiscard]] std::string subscribe();
  void loaded(const driver::Call& call);
  void record(const driver::Call& call);
  [[nodiscard]] bool record_launch(const std::string& name, const driver::Call& call);
  [[nodiscard]] bool record_move(const std::string& name, const driver::Call& call);
  void launch(const driver::LaunchConfig& config, driver::Handle function, void** parameters,
              void** extra, const char* symbol, bool cooperative);
  [[nodiscard]] std::string block(driver::Handle function, void** parameters, void** extra) const;
  void note_region(driver::Address address);
  template <typename Value>
  void fill(const driver::Call& call);
  void add(nlohmann::json step, driver::Handle stream);
  void refuse(const std::string& why);

  struct Driver {
    int (*parameter)(driver::Handle, std::size_t, std::size_t*, std::size_t*) = nullptr;
    int (*of_kernel)(driver::Handle*, driver::Handle) = nullptr;
    int (*module_of)(driver::Handle*, driver::Handle) = nullptr;
    int (*name_of)(const char**, driver::Handle) = nullptr;
    int (*pointer)(void*, int, driver::Address) = nullptr;
  };

  std::mutex mutex_{};
  Driver driver_{};
  void* subscriber_ = nullptr;
  int (*enable_domain_)(std::uint32_t, void*, int) = nullptr;
  int (*enable_callback_)(std::uint32_t, void*, int, std::uint32_t) = nullptr;
  bool recording_ = false;
  ProgramsSeen programs_{};
  nlohmann::json steps_ = nlohmann::json::array();
  std::map<driver::Address, std::size_t> regions_{};
  std::string parameters_{};
  std::size_t name_bytes_ = 0;
  std::string refused_{};
  bool has_stream_ = false;
  driver::Handle stream_ = nullptr;
};

}  // namespace assay::python
