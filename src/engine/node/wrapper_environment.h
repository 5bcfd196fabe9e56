// The headers that host halves of torch_cuda sources are compiled with, compiled ahead: once per
// interpreter, compiler, flags and device, in a folder named by all of that (wrapper_store.h), and
// used by every server on the same state folder. Half a gigabyte and half a minute each; without
// space or permission there is none for a while, and compiling takes as long as the headers do.
//
// Any thread; a second one that needs the same headers waits for the first.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/python_zygote.h"
#include "engine/node/runners.h"
#include "engine/node/wrapper_store.h"

namespace assay::node {

class WrapperEnvironment {
 public:
  struct Prepared {
    std::string key{};
    std::filesystem::path folder{};  // empty: nothing is compiled ahead
    std::string compiler{};
    double made_ms = 0;  // 0: it was there
    std::string note{};  // why nothing is compiled ahead
  };

  // An empty folder keeps nothing.
  explicit WrapperEnvironment(const std::filesystem::path& folder);

  // For one half; or what is missing.
  [[nodiscard]] std::variant<Prepared, Ended> prepare(const Runners& runners, PythonZygote& zygote,
                                                      bool on_gpu, const std::stop_token& stop);

 private:
  [[nodiscard]] std::variant<Prepared, Ended> look(const Runners& runners, PythonZygote& zygote,
                                                   bool on_gpu, const std::stop_token& stop);
  void make(Prepared& prepared, const Runners& runners, PythonZygote& zygote, bool on_gpu,
            const std::stop_token& stop);
  struct Held {
    Prepared prepared{};
    std::chrono::steady_clock::time_point since{};
  };
  const bool keeps_;
  const WrapperStore store_;
  std::mutex mutex_{};
  // By interpreter, and whether for a device.
  std::map<std::pair<std::string, bool>, Held> held_{};
};

// One question to a confined process that compiles, and runs nothing of the user's. `writable`: a
// folder of its own, or "".
[[nodiscard]] std::variant<frames::Frame, Ended> ask_host_compiler(
    const Runners& runners, PythonZygote& zygote, nlohmann::json body,
    const std::filesystem::path& readable, const std::filesystem::path& writable,
    std::chrono::seconds limit, const std::stop_token& stop);

}  // namespace assay::node
