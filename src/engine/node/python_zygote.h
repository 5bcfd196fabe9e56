// Where Python runners come from: one process per interpreter that has imported torch and forks on
// request (engine/python). Started when first wanted, ends after idling and with the engine; one
// that died is started anew.
//
// Any thread; the conversation with the process is serialised.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/frames/channel.h"
#include "engine/node/interpreter.h"

namespace assay::node {

// Why a zygote forks nothing.
struct NoPython {
  std::string reason{};
  bool is_fault = false;  // ours, and passing: another try may find one
};

class PythonZygote {
 public:
  // `library`: libassay-python.so, which confines what is forked.
  PythonZygote(Interpreter interpreter, std::filesystem::path library);
  ~PythonZygote();
  PythonZygote(const PythonZygote&) = delete;
  PythonZygote& operator=(const PythonZygote&) = delete;

  [[nodiscard]] const Interpreter& interpreter() const { return interpreter_; }
  // Begins to import; returns at once.
  void warm();
  // A confined runner that has imported torch. Waits for the import, which a cold disk makes long.
  [[nodiscard]] std::variant<confinement::Child, NoPython> spawn(confinement::SpawnRequest request,
                                                                 const std::stop_token& stop);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void start();
  void end();
  // Nothing: it is ready.
  [[nodiscard]] std::optional<NoPython> make_ready(const std::stop_token& stop);
  [[nodiscard]] std::optional<frames::Frame> next(Deadline deadline, const std::stop_token& stop);

  const Interpreter interpreter_;
  const std::filesystem::path library_;
  std::mutex mutex_{};
  pid_t pid_ = -1;
  frames::Channel channel_;
  bool ready_ = false;
  std::vector<std::string> without_{};  // modules whose import left what cannot be forked
};

}  // namespace assay::node
