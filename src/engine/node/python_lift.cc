#include "engine/node/python_lift.h"

#include <algorithm>
#include <utility>

#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

// Trials that nothing else is numbered like: those that the source is shown while it is captured,
// and those that only the referee has seen when the repetition meets them.
constexpr std::uint32_t kCapturedTrial = 2'000'000;
constexpr std::uint32_t kJudgedTrial = 3'000'000;
constexpr std::uint32_t kJudgedTrials = 3;
// All of a lift's execution; and a repetition before it has shown that it ends.
constexpr std::chrono::seconds kBudget{20};
constexpr std::chrono::seconds kFirstRun{5};
constexpr std::size_t kNamedKernels = 6;

std::string mebibytes(std::uint64_t bytes) {
  return bytes < (1U << 20) ? std::to_string(bytes) + " bytes"
                            : std::to_string(bytes >> 20) + " MiB";
}

Ended not_lifted(std::string why) {
  return Ended{.verdict = job::Verdict::unsupported, .summary = std::move(why)};
}

}  // namespace

PythonLift::PythonLift(Setting setting, Side kernel, std::optional<Side> reference,
                       std::function<void()> end_python)
    : setting_(std::move(setting)),
      kernel_{.side = std::move(kernel)},
      end_python_(std::move(end_python)),
      left_(kBudget) {
  if (reference) reference_.emplace().side = *std::move(reference);
}

PythonLift::~PythonLift() {
  wait_for_loading();
  GpuPool::Used used{.discards = discards_, .client = setting_.client};
  if (may_serve_again()) {
    used.clean.push_back({.process = std::exchange(kernel_.runner, nullptr)->release(),
                          .side = GpuPool::Side::judged});
  }
  for (Lifted* lifted : {&kernel_, reference_ ? &*reference_ : nullptr}) {
    if (lifted != nullptr && lifted->runner) used.ended.push_back(lifted->runner->release());
  }
  // Before the job gives the device to another.
  if (goes_on_) {
    for (const auto& process : used.ended) (void)process->end();
  }
  setting_.pool.give_back(std::move(used));
}

// What was right and took no memory of its own leaves nothing behind but what is emptied.
bool PythonLift::may_serve_again() const {
  return kernel_.runner && ms_.contains("timing") && why_not_.empty() && !reference_ &&
         !setting_.client.empty() && kernel_.programs.code.find("malloc") == std::string::npos;
}

std::optional<Ended> PythonLift::lift() {
  const auto timed = [this](const char* name, Step (PythonLift::*part)()) {
    const auto start = std::chrono::steady_clock::now();
    Step ended = (this->*part)();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    ms_[name] = took.count();
    return ended;
  };
  Step ended = timed("capture", &PythonLift::captures);
  if (!ended) begin_loading();
  if (!ended) ended = timed("answers", &PythonLift::answers);
  if (!ended) {
    end_python_();
    ended = timed("relaunch", &PythonLift::relaunches);
  }
  if (!ended) ended = timed("timing", &PythonLift::measure);
  return conclude(std::move(ended));
}

// What goes wrong with the reference is said to be its own.
PythonLift::Step PythonLift::captures() {
  if (setting_.inputs.are_constant()) {
    return not_lifted(
        "its inputs are the same in every trial, so that a repetition proves nothing");
  }
  Step ended = capture(kernel_);
  if (ended || !reference_) return ended;
  ended = capture(*reference_);
  if (ended) ended->summary = "the reference: " + ended->summary;
  return ended;
}

PythonLift::Step PythonLift::relaunches() {
  Step ended = relaunch(kernel_);
  if (ended || !reference_) return ended;
  ended = relaunch(*reference_);
  if (ended) ended->summary = "the reference: " + ended->summary;
  return ended;
}

PythonLift::Step PythonLift::conclude(Step ended) {
  if (!ended) return std::nullopt;
  why_not_ = ended->summary;
  goes_on_ = may_go_on(*ended);
  measured_ = json::object();
  if (ended->detail.value("forged", false) || ended->verdict == job::Verdict::cancelled) {
    return ended;
  }
  return std::nullopt;
}

std::variant<CapturedCall, Ended> PythonLift::capture_once(Lifted& lifted, std::uint32_t trial) {
  auto arena = setting_.inputs.fill(trial, kJudgedSlot);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  return lifted.side.session->capture(std::get<LentArena>(std::move(arena)),
                                      setting_.inputs.seed(trial), left_);
}

PythonLift::Step PythonLift::capture(Lifted& lifted) {
  if (!lifted.side.no_capture.empty()) return not_lifted(lifted.side.no_capture);
  auto one = capture_once(lifted, kCapturedTrial);
  if (auto* ended = std::get_if<Ended>(&one)) return std::move(*ended);
  auto other = capture_once(lifted, kCapturedTrial + 1);
  if (auto* ended = std::get_if<Ended>(&other)) return std::move(*ended);
  if (&lifted == &kernel_) {
    launched_ = kernel_set(std::get<CapturedCall>(one), std::get<CapturedCall>(other));
  }
  auto work = matched(std::get<CapturedCall>(one), std::get<CapturedCall>(other));
  if (auto* why = std::get_if<std::string>(&work)) return not_lifted(std::move(*why));
  lifted.work = std::get<LiftedWork>(std::move(work));
  auto programs = lifted.side.session->programs(lifted.work.programs);
  if (auto* ended = std::get_if<Ended>(&programs)) return std::move(*ended);
  lifted.programs = std::get<PythonSession::Programs>(std::move(programs));
  return std::nullopt;
}

// What is right for inputs that no capture has seen: the reference says it where it runs; without
// one the source's own answers do, which its repetition must then give again.
PythonLift::Step PythonLift::answers() {
  PythonSession& oracle = reference_ ? *reference_->side.session : *kernel_.side.session;
  for (std::uint32_t trial = kJudgedTrial; trial < kJudgedTrial + kJudgedTrials; ++trial) {
    auto arena = setting_.inputs.fill(trial, kAnswerSlot);
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    if (setting_.has_answer && !reference_) continue;
    auto ran =
        oracle.run(std::get<LentArena>(std::move(arena)), setting_.inputs.seed(trial), left_);
    if (auto* ended = std::get_if<Ended>(&ran)) return std::move(*ended);
    auto answer = setting_.referee.expect(kAnswerSlot);
    if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  }
  return std::nullopt;
}

PythonLift::Step PythonLift::judge(const json& said, std::uint32_t trial) {
  if (auto ended = judge_outputs(said, trial)) {
    ended->summary =
        "its launches alone do not give its answers: they need what Python computed, or memory "
        "that is not theirs";
    return ended;
  }
  const json& findings = said.at("findings");
  if (findings.empty()) return std::nullopt;
  return not_lifted("its repetition: " + findings.front().at("check").get<std::string>());
}

PythonLift::Step PythonLift::examine(Lifted& lifted, std::uint32_t trial) {
  auto arena = setting_.inputs.fill(trial, kJudgedSlot);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  nanoseconds allowed = std::min<nanoseconds>(left_, kFirstRun);
  const nanoseconds before = allowed;
  auto ran = lifted.runner->run(std::get<LentArena>(std::move(arena)), allowed);
  left_ -= before - allowed;
  if (auto* ended = std::get_if<Ended>(&ran)) {
    ended->summary = "its repetition failed: " + ended->summary;
    return std::move(*ended);
  }
  auto said = setting_.referee.check();
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  ++examined_;
  return judge(std::get<json>(said), trial);
}

// Torch's modules are megabytes each: both sides load while the last answers come, each in its own
// process and on a thread of ours. Nothing is launched before Python has ended.
void PythonLift::begin_loading() {
  discards_ = setting_.pool.discards();
  for (Lifted* lifted : {&kernel_, reference_ ? &*reference_ : nullptr}) {
    if (lifted == nullptr) continue;
    // Beside a reference nothing serves that has served before.
    auto taken =
        setting_.pool.take(reference_ ? std::string() : setting_.client,
                           lifted == &kernel_ ? GpuPool::Side::judged : GpuPool::Side::reference);
    if (lifted == &kernel_) runner_reused_ = taken.reused;
    lifted->runner =
        std::make_unique<KernelSession>(std::move(taken.process), RunnerRole::gpu_kernel,
                                        std::string("/") + lifted->side.name, setting_.stop);
    lifted->loading = std::async(std::launch::async | std::launch::deferred, [lifted] {
      LiftedSequence sequence = sequence_of(*lifted);
      return lifted->runner->load_sequence(std::move(sequence.body), std::move(sequence.blob));
    });
  }
}

void PythonLift::wait_for_loading() {
  for (Lifted* lifted : {&kernel_, reference_ ? &*reference_ : nullptr}) {
    if (lifted != nullptr && lifted->loading.valid()) lifted->loading.wait();
  }
}

PythonLift::Step PythonLift::relaunch(Lifted& lifted) {
  auto loaded = lifted.loading.get();
  if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
  lifted.keeps_state = std::get<bool>(loaded) || lifted.work.scratch_bytes() > 0;
  for (std::uint32_t trial = kJudgedTrial; trial < kJudgedTrial + kJudgedTrials; ++trial) {
    if (auto ended = examine(lifted, trial)) return ended;
  }
  return &lifted == &kernel_ ? answers_differ() : std::nullopt;
}

// Holds what the last trial's run left against the first one's answers.
PythonLift::Step PythonLift::answers_differ() {
  auto said = setting_.referee.outline_as(kJudgedTrial, kJudgedSlot);
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  for (const auto& output : std::get<json>(said).at("outputs")) {
    const json& shape = output.at("shape");
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (is_empty || !output.at("ok").get<bool>()) continue;
    return not_lifted("output '" + output.at("name").get<std::string>() +
                      "' is the same for all inputs, so that a repetition proves nothing");
  }
  return std::nullopt;
}

// Behind the arena, of the side that has more.
std::uint64_t PythonLift::scratch_of_both() const {
  const auto behind_arena = [&](const LiftedWork& work) {
    const std::uint64_t arena_bytes = setting_.referee.arena_bytes();
    return work.scratch_bytes() > 0 ? work.memory_bytes - arena_bytes : 0;
  };
  return std::max(behind_arena(kernel_.work), reference_ ? behind_arena(reference_->work) : 0);
}

PythonLift::Step PythonLift::measure() {
  GpuTiming timing(
      setting_.referee, *kernel_.runner, reference_ ? reference_->runner.get() : nullptr,
      {.trials = setting_.trials,
       .may_add = setting_.may_add_trials,
       .warmups = setting_.warmups,
       .method = setting_.method,
       .known_trials = kJudgedTrials,
       .arena_bytes = setting_.referee.arena_bytes(),
       .device_bytes = setting_.pool.gpu().memory_bytes,
       .keeps_state = kernel_.keeps_state,
       .works_on_contents = setting_.works_on_contents,
       .first_trial = kJudgedTrial,
       .fill = [this](std::uint32_t trial,
                      std::uint32_t slot) { return setting_.inputs.fill(trial, slot); },
       .scratch_bytes = scratch_of_both(),
       .launches = kernel_.work.steps.size(),
       .highest_mhz = highest_mhz(setting_.pool.gpu().facts),
       .floor = setting_.floor,
       .others_are_visible = setting_.others_are_visible},
      [](std::uint32_t trial, const json& said) { return judge(said, trial); }, left_);
  Step ended = timing.measure(measured_);
  is_doubtful_ = timing.is_doubtful();
  return ended;
}

std::uint32_t PythonLift::known_trial() { return kJudgedTrial; }

LiftedSequence PythonLift::sequence_of(const Lifted& lifted) {
  return lifted_sequence(lifted.work, lifted.programs.bytes, lifted.programs.code);
}

std::optional<LiftedSequence> PythonLift::reference_sequence() const {
  return reference_ ? std::optional(sequence_of(*reference_)) : std::nullopt;
}

json PythonLift::told() const {
  json kernels = json::array();
  for (const auto& name : kernel_.work.kernels) {
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(name);
  }
  return {{"launches", kernel_.work.kernels.size()},
          {"steps", kernel_.work.steps.size()},
          {"kernels", std::move(kernels)},
          {"scratch_bytes", kernel_.work.scratch},
          {"blanked_bytes", kernel_.work.blanked_bytes},
          {"examined", examined_},
          {"ms", ms_}};
}

std::string PythonLift::detail() const {
  const json all = told();
  const json& kernels = all.at("kernels");
  std::string text = std::to_string(kernel_.work.kernels.size()) +
                     (kernel_.work.kernels.size() == 1 ? " launch (" : " launches (");
  for (std::size_t i = 0; i < std::min(kernels.size(), kNamedKernels); ++i) {
    text += (i == 0 ? "" : ", ") + kernels[i].get<std::string>().substr(0, 60);
  }
  text += kernels.size() > kNamedKernels ? ", …)" : ")";
  for (const std::uint64_t bytes : kernel_.work.scratch) {
    text += ", a scratch buffer of " + mebibytes(bytes);
  }
  if (kernel_.work.blanked_bytes > 0) {
    text += ", " + std::to_string(kernel_.work.blanked_bytes) +
            " bytes of parameters that differed by chance";
  }
  return text + "; repeated without Python on inputs it never saw";
}

}  // namespace assay::node
