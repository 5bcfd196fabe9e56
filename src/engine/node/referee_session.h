// The engine's side of one job's referee. Owned by the job's thread. Every call either answers or
// says how the job ends; a referee that fails is our fault.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/node/ended.h"
#include "engine/node/referee_kernels.h"
#include "engine/node/referee_slots.h"
#include "engine/node/runner_process.h"

namespace assay::node {

struct TensorPlace {
  std::string name{};
  std::size_t argument = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Memory of one run, to be lent to a runner.
struct LentArena {
  posix::Descriptor descriptor{};
  std::uint64_t bytes = 0;
  bool on_device = false;

  // The same memory, lent once more.
  [[nodiscard]] LentArena again() const {
    return {.descriptor = descriptor.duplicate(), .bytes = bytes, .on_device = on_device};
  }
};

class RefereeSession {
 public:
  // `kernels`: what a fresh referee on a GPU prepares itself with; null otherwise.
  RefereeSession(std::unique_ptr<RunnerProcess> process, std::shared_ptr<RefereeKernels> kernels,
                 std::stop_token stop);

  // Ends this session; the process is for whoever takes it, with what it needs still to be
  // prepared.
  [[nodiscard]] std::unique_ptr<RunnerProcess> release() { return std::move(process_); }
  [[nodiscard]] const std::shared_ptr<RefereeKernels>& kernels() const { return kernels_; }

  // `expected`: base64 by argument, what every trial must give; empty where a reference says it.
  // `in_double`: expect_in_double() will be told too, and arenas are the host's.
  // May be called again, for another contract: the trials begin anew.
  [[nodiscard]] std::optional<Ended> open(const contract::Contract& contract,
                                          const contract::ToleranceRequest& tolerance,
                                          const nlohmann::json& expected, bool in_double = false);
  // The halves of open(), for whoever has something else to do meanwhile.
  void begin_open(const contract::Contract& contract, const contract::ToleranceRequest& tolerance,
                  const nlohmann::json& expected, bool in_double = false);
  [[nodiscard]] std::optional<Ended> opened();
  [[nodiscard]] const std::vector<TensorPlace>& places() const { return places_; }
  [[nodiscard]] std::uint64_t arena_bytes() const { return arena_bytes_; }
  // Whether the arenas are device memory; known once open.
  [[nodiscard]] bool is_on_device() const { return on_device_; }

  // An arena with the trial's inputs, in one of the referee's slots (referee_slots.h).
  // `given`: an arena of the same layout whose inputs are taken instead of made, if it is one.
  [[nodiscard]] std::variant<LentArena, Ended> fill(std::uint32_t trial,
                                                    std::uint32_t slot = kJudgedSlot,
                                                    const posix::Descriptor* given = nullptr);
  // Likewise, but what the contract fixes of its inputs is drawn (contract/fixed_contents.h): for
  // outline_as() alone.
  [[nodiscard]] std::variant<LentArena, Ended> fill_otherwise(std::uint32_t trial,
                                                              std::uint32_t slot);
  // Asks for what fill() will want soon, and does not wait.
  void fill_ahead(std::uint32_t trial, std::uint32_t slot);
  // Takes the answers to what was asked ahead: those to come are to what is asked now.
  void take_ahead();
  // Other contents (judge/varied.h) for some of a contract's inputs in an arena of the engine's.
  struct Variation {
    std::vector<std::size_t> arguments{};
    bool masks_too = false;
  };
  [[nodiscard]] std::optional<Ended> vary(const contract::Contract& contract,
                                          const Variation& variation,
                                          const posix::Descriptor& arena, std::uint64_t seed);
  // See runner/examination.h for what they answer.
  [[nodiscard]] std::variant<nlohmann::json, Ended> expect();
  [[nodiscard]] std::variant<nlohmann::json, Ended> expect(std::uint32_t slot);
  // `part`: high or low.
  [[nodiscard]] std::variant<nlohmann::json, Ended> expect_in_double(const char* part);
  // What was filled last, in double: an arena of `bytes` (contract/in_double.h, contract/layout.h).
  [[nodiscard]] std::variant<LentArena, Ended> fill_wide(std::uint64_t bytes);
  [[nodiscard]] std::variant<nlohmann::json, Ended> expect_wide();
  [[nodiscard]] std::variant<nlohmann::json, Ended> check(std::uint32_t slot = kJudgedSlot);
  // Of several slots, in that order.
  [[nodiscard]] std::variant<std::vector<nlohmann::json>, Ended> check(
      const std::vector<std::uint32_t>& slots);
  // Whether outputs are the answers of another trial; the slot is to be filled anew after that.
  [[nodiscard]] std::variant<nlohmann::json, Ended> outline_as(std::uint32_t trial,
                                                               std::uint32_t slot);
  [[nodiscard]] std::variant<nlohmann::json, Ended> weak_oracle();

 private:
  struct Ahead {
    std::uint32_t trial = 0;
    std::uint32_t slot = 0;
    std::optional<std::variant<frames::Frame, Ended>> reply{};  // once it has come
  };

  // Of a frame with the arena that was filled.
  [[nodiscard]] std::variant<LentArena, Ended> arena_of(std::variant<frames::Frame, Ended> reply);
  void post(nlohmann::json body);
  // The next frame; what the process answers out of turn is our fault.
  [[nodiscard]] std::variant<frames::Frame, Ended> await(const char* expected);
  [[nodiscard]] std::variant<frames::Frame, Ended> ask(nlohmann::json body, const char* expected,
                                                       const posix::Descriptor* lent = nullptr);
  [[nodiscard]] std::variant<nlohmann::json, Ended> ask_body(nlohmann::json body,
                                                             const char* expected);

  std::unique_ptr<RunnerProcess> process_;
  std::shared_ptr<RefereeKernels> kernels_;  // null: it is prepared
  std::stop_token stop_;
  bool asked_to_prepare_ = false;
  bool is_preparing_ = false;  // asked to, and has not answered yet
  std::vector<Ahead> ahead_{};
  std::size_t parts_asked_ = 1;  // each has the time of a whole question
  std::vector<TensorPlace> places_{};
  std::uint64_t arena_bytes_ = 0;
  bool on_device_ = false;
};

}  // namespace assay::node
