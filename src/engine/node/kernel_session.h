// The engine's side of one kernel in its runner: loaded once, run on one arena after another. Owned
// by the job's thread. The same kernel as reference and as candidate is two sessions in two
// processes.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "engine/node/compilation.h"
#include "engine/node/kernel_claim.h"
#include "engine/node/referee_session.h"

namespace assay::node {

// What an inspection looks at.
struct InspectionOrder {
  std::vector<std::string> what{};
  std::uint32_t checked_blocks = 0;  // 0: all
};

// One run of a turn: which staged arena it begins with, where that is put, and whether what it
// leaves is handed back as that arena.
struct RunOrder {
  std::uint32_t place = 0;
  std::uint32_t content = 0;
  bool keep = false;
  bool as_left = false;  // begins with what the run before has left there
};

// A turn on a device with a clock.
struct TurnOrder {
  const char* view = "cold";  // cold, warm or graph (runner/device.h)
  std::vector<RunOrder> runs{};
  std::uint32_t warmups = 1;
  bool fresh_module = false;     // variables as they were when it was loaded, memory without traces
  bool tell_state = false;       // of the device: clocks, heat, power; takes milliseconds to ask
  bool tell_neighbours = false;  // of that state: who else is there
  double ramp_below_mhz = 0;     // at a lower clock the device is kept busy first; 0: at any
  bool precise = false;          // of a graph: longer ones, for a comparison
  bool renews_each = false;      // of a graph: contents are put anew before each of its launches
  double typical_ns = 0;         // of a graph: by what its launch took so far; 0: nobody knows
  bool digests = false;          // of what each run leaves are told, if the device can
};

// What is counted, and of which groups of it is told what they would take by themselves.
struct CounterOrder {
  std::string library{};  // libcupti.so.N
  std::vector<std::string> metrics{};
  std::map<std::string, std::vector<std::string>> groups{};
  std::chrono::nanoseconds limit{};  // for all of its passes, set-up included
};

class KernelSession {
 public:
  // `process` plays `role`: kernel (on the emulator) or gpu_kernel. `pointer` is where the source
  // stands in the request: "/kernel" or "/ref_kernel".
  KernelSession(std::unique_ptr<RunnerProcess> process, RunnerRole role, std::string pointer,
                std::stop_token stop);

  // Ends this session; the process is for whoever ends it.
  [[nodiscard]] std::unique_ptr<RunnerProcess> release() { return std::move(process_); }
  // Ends its process, as RunnerProcess::end() does.
  [[nodiscard]] bool end() { return !process_ || process_->end(); }
  // What a profiler calls the runs from now on (runner/nvtx.h); why it cannot see them, if it
  // cannot.
  void name_range(std::string name) { range_ = std::move(name); }
  [[nodiscard]] const std::string& range_failure() const { return range_failure_; }
  // It was asked nothing yet, and so knows nothing of this job.
  [[nodiscard]] bool is_untouched() const { return untouched_; }

  // Arity, types, limits and coverage are decided here, before anything runs. The tensors are those
  // of `places`, found by name: a reference may order its arguments otherwise.
  [[nodiscard]] std::variant<Loaded, Ended> load(const KernelSource& source, const Program& program,
                                                 const contract::Contract& judged,
                                                 const std::vector<TensorPlace>& places);

  // The launch that load() bound, for a process that compute-sanitizer looks at; also if the
  // program could not be loaded here.
  [[nodiscard]] nlohmann::json sanitizer_order() const;

  // `execution_left` shrinks by what the run took: the timeout counts execution, nothing else.
  // `to_the_barrier`: on the emulator, in the other order of warps.
  [[nodiscard]] std::variant<Ran, Ended> run(LentArena arena,
                                             std::chrono::nanoseconds& execution_left,
                                             bool to_the_barrier = false);

  // Instead of load(): several programs and what is done with them in order
  // (runner/sequence.h). run(), stage() and time() are then of all of it.
  // Answers whether a program has variables that outlast a launch.
  // Unlike a program's, they keep their values from run to run, as they do where Python runs them.
  [[nodiscard]] std::variant<bool, Ended> load_sequence(nlohmann::json body, std::string programs);

  // On the emulator only: the same launch, looked at. What the kernel does wrong is no Ended here.
  [[nodiscard]] std::variant<Inspected, Ended> inspect(const InspectionOrder& order,
                                                       LentArena arena,
                                                       std::chrono::nanoseconds& execution_left);

  // Both on a GPU only. Arenas of one size and kind, at least one; kept runs write to them. Answers
  // how many places runs can work in.
  // `scratch_bytes`: behind the arena of each place, if its sequence does not need more by itself.
  [[nodiscard]] std::variant<std::uint32_t, Ended> stage(const std::vector<LentArena>& arenas,
                                                         std::uint32_t places,
                                                         std::uint64_t scratch_bytes = 0);
  // The halves of stage(), for whoever has something else to do meanwhile, and to ask.
  void begin_stage(const std::vector<LentArena>& arenas, std::uint32_t places,
                   std::uint64_t scratch_bytes = 0);
  [[nodiscard]] std::variant<std::uint32_t, Ended> staged();
  // Of a graph's turn that time() will be asked for: what can be made ready for it without the
  // device, while its process would do nothing. captured() before anything else: why it failed,
  // after which nobody knows how its process is; else "".
  void begin_capture(const TurnOrder& order);
  [[nodiscard]] std::variant<std::string, Ended> captured();
  // One after the other, in one question; none after one that fails or cannot be captured.
  [[nodiscard]] Turns time(const std::vector<TurnOrder>& orders,
                           std::chrono::nanoseconds& execution_left);

  // Hardware counters of one run, in a session that times nothing.
  [[nodiscard]] std::variant<Counted, Ended> profile(LentArena arena, const CounterOrder& order);

 private:
  [[nodiscard]] nlohmann::json launch_frame(const char* type) const;
  void take_staged();
  // The runner's answer, or what its end means.
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask(frames::Frame request,
                                                        std::chrono::nanoseconds limit);
  // As ask(), of something that counts as execution.
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask_launch(
      frames::Frame request, std::chrono::nanoseconds& execution_left);
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask_run(
      const nlohmann::json& extra, LentArena arena, std::chrono::nanoseconds& execution_left);
  // `decode`: one of kernel_claim.h.
  template <typename Decode>
  [[nodiscard]] auto decoded(std::variant<nlohmann::json, Ended> reply, Decode&& decode) const
      -> decltype(decode(nlohmann::json()));
  void note_range(const nlohmann::json& body);
  [[nodiscard]] std::optional<Ended> bind(const contract::Contract& called,
                                          const contract::Contract& judged,
                                          const std::vector<TensorPlace>& places);

  std::unique_ptr<RunnerProcess> process_;
  bool untouched_ = true;
  bool is_staging_ = false;  // asked for, and not answered yet
  std::variant<std::uint32_t, Ended> staged_{0U};
  std::string wanted_{};  // the kernel's name, as load() was told it
  std::string range_{};
  std::string range_failure_{};
  bool fresh_runs_ = true;  // each run begins with the program as it was loaded
  std::uint32_t runs_ = 0;  // asynchronous copies arrive late and early in turn
  RunnerRole role_;
  PassedArguments passed_;
  std::stop_token stop_;
  nlohmann::json arguments_ = nlohmann::json::array();
  contract::LaunchConfig launch_{};
};

}  // namespace assay::node
