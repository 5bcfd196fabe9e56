// Times a Python source from outside: the wall clock between the engine's word and the answer, over
// N calls and over 2N; what a turn costs besides its calls follows from both, and with a reference
// from the reference's alone.
// Each call has contents of its own, which come with the request and were never seen before, and
// what calls that nobody could foresee left is examined. Reference and candidate take turns on the
// same contents.
//
// On a GPU (python_device_timing.cc) a call lasts microseconds and its contents megabytes: memory
// is mapped before the clock runs, its contents are put there after that, and a turn goes over a
// few contents again and again, the last call alone over its own. What that would hide is looked
// for: work put off until the results are fetched shows in the time of the whole turn, results kept
// by their contents, or for the length of a turn, in turns that show each only once.
//
// Owned by the job's thread; borrows what it is given.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/node/python_inputs.h"
#include "engine/node/referee_slots.h"

namespace assay::node {

class PythonTiming {
 public:
  struct Plan {
    std::uint32_t trials = 100;  // timed calls that were asked for
    std::uint32_t warmups = 1;
    std::uint32_t first_trial = 0;  // numbers from here on are fresh
    std::uint64_t arena_bytes = 0;
    std::chrono::nanoseconds typical{0};  // about what a call takes
    bool on_device = false;
    bool lent_on_device = false;  // the referee's arenas are the device's
    bool repeatable = true;       // a call may see again what it worked on: it changes no input
    bool same_contents = false;   // of every call: no other ones could be made
  };
  // What the referee said of a timed call: an end if it is wrong.
  using Judge =
      std::function<std::optional<Ended>(std::uint32_t trial, const nlohmann::json& said)>;

  // `reference` may be null.
  PythonTiming(RefereeSession& referee, PythonInputs& inputs, PythonSession& kernel,
               PythonSession* reference, Plan plan, Judge judge,
               std::chrono::nanoseconds& execution_left);

  // Writes samples_ns (one per round: nanoseconds of a call) and what it took to `body`.
  [[nodiscard]] std::optional<Ended> measure(nlohmann::json& body);

  // What the audit saw: {check, result, detail}, and of a disagreement {which, message}.
  [[nodiscard]] const nlohmann::json& evidence() const { return evidence_; }
  [[nodiscard]] const std::vector<std::string>& patched() const { return patched_; }
  // Why turns have fewer calls than they would have; "" if they have as many.
  [[nodiscard]] const std::string& fewer_calls() const { return fewer_calls_; }

 private:
  using Step = std::optional<Ended>;
  struct Walls {
    std::chrono::nanoseconds kernel{0};
    std::chrono::nanoseconds reference{0};
    std::chrono::nanoseconds kernel_whole{0};  // with what was moved
  };
  struct CallTimes {
    double kernel_ns = 0;
    double reference_ns = 0;
  };
  // A turn on a device.
  struct Deal {
    std::uint32_t calls = 1;
    bool examined = false;
  };

  // From turns of N and of 2N calls.
  [[nodiscard]] CallTimes call_times(const Walls& once, const Walls& twice) const;
  [[nodiscard]] Step round(bool counts);
  [[nodiscard]] Step turn(std::uint32_t calls, Walls& walls);
  [[nodiscard]] Step take_contents(std::uint32_t calls);
  [[nodiscard]] std::variant<PythonSession::Turn, Ended> time(PythonSession& session,
                                                              const posix::SharedMemory& memory,
                                                              std::uint32_t calls);
  [[nodiscard]] Step examine(std::uint32_t calls, const posix::SharedMemory& kernel,
                             const posix::SharedMemory* reference);
  using Bytes = std::span<const std::byte>;  // of one call
  [[nodiscard]] Step examine_one(std::uint32_t index, Bytes kernel, std::optional<Bytes> reference);
  [[nodiscard]] Step listen();
  // What `turn` of the reference's answers, with what the kernel's threads did meanwhile.
  template <typename Turn>
  [[nodiscard]] auto beside_kernel(const Turn& turn);
  // What `fill` answers, which puts contents where the session can see them while no clock runs;
  // with what the kernel's threads did meanwhile.
  template <typename Fill>
  auto unclocked(PythonSession& session, const Fill& fill);
  void tell_aside();
  void tell_unclocked();
  [[nodiscard]] Step measure_rounds();
  [[nodiscard]] Step measure_on_device();
  [[nodiscard]] Step estimate_on_device();
  [[nodiscard]] Step device_round();
  [[nodiscard]] Step device_turn(const Deal& deal, Walls& walls);
  [[nodiscard]] std::variant<std::chrono::nanoseconds, Ended> called(PythonSession& session,
                                                                     const Deal& deal);
  // Returns how long the calls took; `whole` with what was moved.
  [[nodiscard]] std::variant<std::chrono::nanoseconds, Ended> device_calls(
      PythonSession& session, const posix::SharedMemory& memory, const Deal& deal,
      std::chrono::nanoseconds& whole);
  // Likewise in memory that the referee lends on the device: its own arenas, each a stretch.
  [[nodiscard]] Step lent_turn(const Deal& deal, Walls& walls);
  [[nodiscard]] std::variant<std::chrono::nanoseconds, Ended> lent_calls(PythonSession& session,
                                                                         const SlotRange& slots,
                                                                         const Deal& deal);
  [[nodiscard]] std::variant<LentArena, Ended> lend(std::uint32_t slot);
  [[nodiscard]] std::vector<std::uint32_t> choose(std::uint32_t contents) const;
  [[nodiscard]] Step show_anew();
  [[nodiscard]] Step hold_against_slopes_of_now(bool& is_more);
  // Both nanoseconds of a call.
  [[nodiscard]] bool is_more_than_slope(const Walls& once, double said_ns,
                                        double reference_ns) const;
  void tell_put_off();
  [[nodiscard]] std::uint32_t rounds_wanted() const;
  void spare_inputs();
  void conclude(nlohmann::json& body);

  RefereeSession& referee_;
  PythonInputs& inputs_;
  PythonSession& kernel_;
  PythonSession* reference_;
  const Plan plan_;
  const Judge judge_;
  std::chrono::nanoseconds& execution_left_;
  const std::uint64_t stride_bytes_;
  std::uint32_t calls_;            // N
  const std::uint32_t stretches_;  // contents of a turn on a device
  std::uint32_t next_trial_;
  std::vector<posix::SharedMemory> contents_{};  // the referee's arenas of this turn
  std::vector<std::uint32_t> trials_{};          // theirs
  std::vector<double> samples_ns_{};
  std::vector<double> reference_samples_ns_{};
  std::vector<double> whole_samples_ns_{};
  std::uint32_t timed_calls_ = 0;
  std::uint32_t examined_ = 0;
  std::chrono::nanoseconds kernel_wall_{0};
  std::chrono::nanoseconds kernel_cpu_{0};
  std::chrono::nanoseconds reference_wall_{0};         // of its turns
  std::chrono::nanoseconds kernel_aside_{0};           // CPU time of the kernel's threads in those
  std::chrono::nanoseconds fill_wall_{0};              // while the kernel's next contents were made
  std::chrono::nanoseconds kernel_early_{0};           // CPU time of its threads meanwhile
  std::map<std::uint32_t, posix::Descriptor> lent_{};  // of the device, by slot
  std::vector<std::string> patched_{};
  std::string fewer_calls_{};
  nlohmann::json evidence_ = nlohmann::json::array();
};

template <typename Turn>
auto PythonTiming::beside_kernel(const Turn& turn) {
  const auto before = kernel_.cpu_time();
  const auto start = std::chrono::steady_clock::now();
  auto answer = turn();
  reference_wall_ += std::chrono::steady_clock::now() - start;
  const auto after = kernel_.cpu_time();
  if (before && after) kernel_aside_ += *after - *before;
  return answer;
}

template <typename Fill>
auto PythonTiming::unclocked(PythonSession& session, const Fill& fill) {
  const bool is_kernels = &session == &kernel_;
  const auto before = is_kernels ? kernel_.cpu_time() : std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  auto answer = fill();
  if (is_kernels) fill_wall_ += std::chrono::steady_clock::now() - start;
  const auto after = before ? kernel_.cpu_time() : std::nullopt;
  if (after) kernel_early_ += *after - *before;
  return answer;
}

}  // namespace assay::node
