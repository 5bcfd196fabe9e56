// The headers that host halves of torch_cuda sources are compiled with, compiled ahead: once per
// interpreter, compiler, flags and device, in a folder named by all of that, and used by every
// server on the same state folder. Half a gigabyte and half a minute each; without space or
// permission there is none, and compiling takes as long as the headers do.
//
//   FOLDER/<key>/wrapper.h, …, wrapper.h.gch        made aside and renamed, never changed
//
// Any thread; a second one that needs the same headers waits for the first.
#pragma once

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
  explicit WrapperEnvironment(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // For one half; or what is missing.
  [[nodiscard]] std::variant<Prepared, Ended> prepare(const Runners& runners, PythonZygote& zygote,
                                                      bool on_gpu, const std::stop_token& stop);

 private:
  [[nodiscard]] std::variant<Prepared, Ended> look(const Runners& runners, PythonZygote& zygote,
                                                   bool on_gpu, const std::stop_token& stop);
  void make(Prepared& prepared, const Runners& runners, PythonZygote& zygote, bool on_gpu,
            const std::stop_token& stop);
  void tidy() const;

  const std::filesystem::path folder_;
  std::mutex mutex_{};
  // By interpreter, and whether for a device.
  std::map<std::pair<std::string, bool>, Prepared> prepared_{};
};

// One question to a confined process that compiles, and runs nothing of the user's. `writable`: a
// folder of its own, or "".
[[nodiscard]] std::variant<frames::Frame, Ended> ask_host_compiler(
    const Runners& runners, PythonZygote& zygote, nlohmann::json body,
    const std::filesystem::path& readable, const std::filesystem::path& writable,
    std::chrono::seconds limit, const std::stop_token& stop);

}  // namespace assay::node
