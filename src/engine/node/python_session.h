// The engine's side of one Python source in its runner (engine/python/assay_runner/worker.py):
// loaded once, called on one arena after another. Owned by the job's thread. Reference and
// candidate are two sessions in two processes; neither holds what the other gave.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/node/finding_claim.h"
#include "engine/node/kernel_task.h"
#include "engine/node/lift_claim.h"
#include "engine/node/referee_session.h"
#include "engine/node/source_time.h"
#include "engine/node/wrapper_build.h"

namespace assay::node {

struct PythonLoaded {
  std::string name{};  // of what is called: "Model.forward"
  bool has_inputs = false;
  std::string no_inputs{};  // what there is in get_inputs()'s place, in words
  // What get_init_inputs() gave, for a source without one (assay_runner/construction.py); null if
  // there is none or it cannot be told.
  nlohmann::json init_inputs{};
  nlohmann::json warnings = nlohmann::json::array();
  std::string torch{};
  std::string python{};
  nlohmann::json built = nlohmann::json::array();  // of torch_cuda: what, and by whom
  std::string no_capture{};  // why its calls cannot be captured; "" if they can
};

// What a process says of its own state after a call: it counts against the source, never for it.
struct PythonClaims {
  std::vector<std::string> patched{};
  std::vector<std::string> foreign{};  // tensor types of its own among the results
  std::uint64_t launches = 0;          // of its own kernels so far, on CPU tensors
  std::vector<std::string> chosen{};   // of its autotuned kernels, where none is timed
};

class PythonSession {
 public:
  // `which`: kernel or ref_kernel, for pointers and files.
  PythonSession(std::unique_ptr<RunnerProcess> process, std::string which, std::stop_token stop);

  struct Loading {
    bool is_candidate = false;
    std::uint64_t seed = 0;
    bool on_gpu = false;           // its tensors live there; lent memory stays the host's
    nlohmann::json init_inputs{};  // the other source's, for one that has none
    std::chrono::milliseconds timeout{
        120'000};  // the task's: what runs as it is loaded gets no more
  };
  // `wrappers`: builds what a torch_cuda source asks for, here and in calls that no clock takes;
  // null leaves that to torch.
  [[nodiscard]] std::variant<PythonLoaded, Ended> load(
      const KernelSource& source, Loading loading,
      std::unique_ptr<WrapperBuild> wrappers = nullptr);
  // What was built so far, by the engine.
  [[nodiscard]] nlohmann::json built() const;
  // A warning of a build that failed in a call since, and that the source went on without; null if
  // none did. Taken once.
  [[nodiscard]] nlohmann::json take_swallowed_build() { return std::exchange(swallowed_, nullptr); }
  // Instead of load(): a Triton source is executed, which gets `timeout` as in load(), ...
  [[nodiscard]] std::optional<Ended> execute(nlohmann::json request,
                                             std::chrono::milliseconds timeout);
  // ... and one kernel of it compiled (triton_claim.h), which may take longer: a claim and PTX.
  [[nodiscard]] std::variant<frames::Frame, Ended> compile(nlohmann::json request);
  // Of the source's get_inputs(): {inputs: [{shape, dtype} | {value}], groups}.
  [[nodiscard]] std::variant<nlohmann::json, Ended> own_inputs(std::uint64_t seed, InputTime& time);
  // How the values of own_inputs() are passed (assay_runner/grouping.py), whichever source made
  // them; what bind() says from here on.
  void group_inputs(nlohmann::json groups) { groups_ = std::move(groups); }
  [[nodiscard]] const nlohmann::json& groups() const { return groups_; }
  // The same as bytes: the memory's inputs are what the source made of this seed.
  [[nodiscard]] std::optional<Ended> make_inputs(const contract::Contract& contract,
                                                 const std::vector<TensorPlace>& places,
                                                 LentArena memory, std::uint64_t seed,
                                                 InputTime& time);
  // What is passed in which place, and where results go: for the calls to come. `own` orders the
  // arguments, `judged` says what they are.
  enum class Arguments {
    all,
    what_fits,  // the contract is another kernel's: its tensors, and what the parameters name
  };
  [[nodiscard]] std::optional<Ended> bind(const contract::Contract& own,
                                          const contract::Contract& judged,
                                          const std::vector<TensorPlace>& places,
                                          Arguments taken = Arguments::all);
  // [{shape, dtype}] of what a call returns.
  [[nodiscard]] std::variant<nlohmann::json, Ended> shapes(
      LentArena arena, std::uint64_t seed, std::chrono::nanoseconds& execution_left);
  // From here on launches of a torch_cuda source on CPU tensors do nothing.
  [[nodiscard]] std::optional<Ended> skip_launches();
  // `in_double`: null, or which part (high, low) of what it gives in double is left as outputs.
  [[nodiscard]] std::variant<PythonClaims, Ended> run(LentArena arena, std::uint64_t seed,
                                                      std::chrono::nanoseconds& execution_left,
                                                      const char* in_double = nullptr);

  // One call whose launches on the emulator are looked at, for nothing else: what it gives nobody
  // sees, and no other call of this process is judged after it.
  struct Looking {
    std::vector<std::string> what{};
    std::uint32_t checked_blocks = 0;      // 0: all
    std::vector<std::string> unwritten{};  // outputs that begin without contents
    std::uint64_t seed = 0;
  };
  [[nodiscard]] std::variant<InspectedCall, Ended> inspect(
      LentArena arena, const Looking& looking, std::chrono::nanoseconds& execution_left);

  // One turn: `calls` calls, one on each of the first stretches of the memory. The time is that
  // between the engine's word and the answer.
  struct Turn {
    PythonClaims claims{};
    std::chrono::nanoseconds wall{0};
    std::chrono::nanoseconds cpu{0};  // of all its threads; 0 if not known
  };
  struct TurnRequest {
    std::uint32_t calls = 1;
    std::uint32_t contents = 1;
    std::uint64_t stride_bytes = 0;
    std::uint64_t seed = 0;
  };
  [[nodiscard]] std::variant<Turn, Ended> time(LentArena memory, const TurnRequest& request,
                                               std::chrono::nanoseconds& execution_left);
  // A turn on a GPU: what is mapped and moved back is apart from what is called. `wall` of each is
  // the engine's. stage() takes the first `contents` stretches; the turn's calls go over them. What
  // is in them comes after it, and for memory of the host's go() moves it there: what is done
  // before the clock runs is done without them.
  struct Stretches {
    std::uint32_t contents = 1;
    std::uint64_t stride_bytes = 0;
  };
  // Memory of a device comes as one arena for each of the contents.
  [[nodiscard]] std::variant<Turn, Ended> stage(std::vector<LentArena> memory,
                                                const Stretches& stretches,
                                                std::chrono::nanoseconds& execution_left);
  struct Going {
    std::uint32_t calls = 1;
    std::uint64_t seed = 0;
    bool moves = false;  // what the host's memory holds to the device, first
  };
  [[nodiscard]] std::variant<Turn, Ended> go(const Going& going,
                                             std::chrono::nanoseconds& execution_left);
  [[nodiscard]] std::variant<Turn, Ended> fetch(std::chrono::nanoseconds& execution_left);

  // What a call on this memory of the device makes the device do; for sources loaded on a GPU.
  [[nodiscard]] std::variant<CapturedCall, Ended> capture(LentArena arena, std::uint64_t seed,
                                                          std::chrono::nanoseconds& execution_left);
  // The machine code of these programs, one after the other, and the size of each.
  struct Programs {
    std::vector<std::uint64_t> bytes{};
    std::string code{};
  };
  [[nodiscard]] std::variant<Programs, Ended> programs(const std::vector<std::size_t>& numbers);

  // Nothing was said that was not asked for; what its threads did while they should rest.
  [[nodiscard]] std::variant<std::chrono::nanoseconds, Ended> rest(std::chrono::nanoseconds pause);

  // Ends this session.
  [[nodiscard]] std::unique_ptr<RunnerProcess> release() { return std::move(process_); }

  // Its process is to end, or has ended: as RunnerProcess has it.
  void dismiss() noexcept {
    if (process_) process_->dismiss();
  }
  [[nodiscard]] bool end() { return !process_ || process_->end(); }

  [[nodiscard]] std::string recent_output() { return process_->recent_output(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time() const {
    return process_->cpu_time();
  }
  [[nodiscard]] std::size_t output_bytes() const { return process_->output_bytes(); }
  // What the source is called in tracebacks.
  [[nodiscard]] std::string file() const { return which_ + ".py"; }

 private:
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask(nlohmann::json body, const char* expected,
                                                        Deadline deadline,
                                                        std::vector<LentArena> memory);
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask_running(
      nlohmann::json body, const char* expected, std::vector<LentArena> memory,
      std::chrono::nanoseconds& execution_left);
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask_for_inputs(nlohmann::json body,
                                                                   const char* expected,
                                                                   std::vector<LentArena> memory,
                                                                   InputTime& time);
  [[nodiscard]] std::variant<Turn, Ended> clocked(nlohmann::json body, const char* expected,
                                                  std::vector<LentArena> memory,
                                                  std::chrono::nanoseconds& execution_left);
  // What the source asks to be built is built meanwhile, and is not its time.
  [[nodiscard]] Reply ask_building(frames::Frame request, Deadline deadline);
  [[nodiscard]] Ended forged() const;
  [[nodiscard]] Ended failed(const nlohmann::json& said);

  std::unique_ptr<RunnerProcess> process_;
  std::string which_;
  std::stop_token stop_;
  std::unique_ptr<WrapperBuild> wrappers_{};
  std::chrono::nanoseconds built_for_{0};  // what its builds took together
  nlohmann::json swallowed_ = nullptr;
  nlohmann::json groups_{};  // null: each value is an argument
  std::uint64_t seq_ = 0;
  std::string blob_{};  // of the last answer
};

// Of an answer. Throws nlohmann's exceptions.
[[nodiscard]] PythonClaims claims_of(const nlohmann::json& body);
// A list of that one, for requests that may lend several.
[[nodiscard]] std::vector<LentArena> only(LentArena arena);

}  // namespace assay::node
