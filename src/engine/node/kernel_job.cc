#include "engine/node/kernel_job.h"

#include <algorithm>
#include <array>

#include "engine/node/assembling.h"
#include "engine/node/device_turn.h"
#include "engine/node/element_types.h"
#include "engine/node/kernel_wording.h"
#include "engine/node/launch_resources.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"
#include "engine/node/unset_constants.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMaxArenaBytes = 1ULL << 30;
// The referee holds each arena twice in host memory.
constexpr std::uint64_t kMaxGpuArenaBytes = 2ULL << 30;

}  // namespace

KernelJob::KernelJob(const Runners& runners, const Compiler& compiler, Pythons& pythons,
                     GpuPool* gpu, KernelTask task, Reporter& reporter, std::stop_token stop)
    : runners_(runners),
      compiler_(compiler),
      pythons_(pythons),
      gpu_(gpu),
      task_(std::move(task)),
      reporter_(reporter),
      stop_(std::move(stop)) {}

// Processes start while the compiler works: what they need of the program comes later.
void KernelJob::start_runners() {
  if (gpu_ != nullptr) {
    discards_ = gpu_->discards();
    if (task_.counts()) gpu_->will_count();
    auto taken = gpu_->take_referee();
    referee_ = std::make_unique<RefereeSession>(std::move(taken.process), taken.kernels, stop_);
  } else {
    referee_ =
        std::make_unique<RefereeSession>(runners_.start(RunnerRole::referee), nullptr, stop_);
  }
  if (task_.reference && !task_.reference->is_python()) {
    reference_ = start_session(task_.reference_name, GpuPool::Side::reference, task_.client);
  }
  kernel_ = start_session(task_.judged_name, GpuPool::Side::judged, task_.client);
}

std::unique_ptr<KernelSession> KernelJob::start_session(const std::string& argument,
                                                        GpuPool::Side side,
                                                        const std::string& client) {
  if (gpu_ == nullptr) {
    return std::make_unique<KernelSession>(runners_.start(RunnerRole::kernel), RunnerRole::kernel,
                                           "/" + argument, stop_);
  }
  auto taken = gpu_->take(client, side);
  bool& reused = side == GpuPool::Side::judged ? runner_reused_ : reference_runner_reused_;
  reused = reused || taken.reused;
  return std::make_unique<KernelSession>(std::move(taken.process), RunnerRole::gpu_kernel,
                                         "/" + argument, stop_);
}

KernelJob::~KernelJob() {
  if (gpu_ == nullptr) {
    end_runners();
    return;
  }
  // It was left by an exception: nobody knows what goes on there.
  if (lease_ && !end_at_work(false)) lease_->doubt();
  GpuPool::Used used{.discards = discards_, .client = task_.client, .hung = hung_};
  if (profile_) {
    used.ended = profile_->release();
    used.counted = profile_->has_counted();
  }
  if (auto process = double_reference_ ? double_reference_->release() : nullptr) {
    used.ended.push_back(std::move(process));
  }
  if (referee_) used.referee = {referee_->release(), referee_->kernels()};
  if (reference_) give_back(*reference_, GpuPool::Side::reference, used);
  if (kernel_) give_back(*kernel_, GpuPool::Side::judged, used);
  gpu_->give_back(std::move(used));
}

bool KernelJob::end_at_work(bool spares_reference) {
  bool gone = !kernel_ || kernel_->is_untouched() || kernel_->end();
  if (spares_reference) return gone;
  if (reference_ && !reference_->is_untouched()) gone = reference_->end() && gone;
  if (double_reference_) gone = double_reference_->end() && gone;
  return gone;
}

// A job that waits for the device would be timed beside it.
void KernelJob::end_failed(Step& ended) {
  // Its host code can launch as long as it lives.
  if (lease_ && python_reference_) python_reference_->dismiss();
  if (!lease_ || (repeats_ && !(ended && may_go_on(*ended)))) return;
  const bool is_kernels = ended && ended->detail.value("which", "") == "kernel";
  if (end_at_work(is_kernels)) return;
  lease_->doubt();
  if (!ended) ended = our_fault("A process that ran a kernel could not be killed.");
  ended->detail["left_running"] = true;
}

void KernelJob::end_runners() {
  std::array<std::unique_ptr<RunnerProcess>, 4> runners{};
  if (referee_) runners[0] = referee_->release();
  if (reference_) runners[1] = reference_->release();
  if (kernel_) runners[2] = kernel_->release();
  if (double_reference_) runners[3] = double_reference_->release();
  for (const auto& runner : runners) {
    if (runner) runner->dismiss();
  }
}

void KernelJob::give_back(KernelSession& session, GpuPool::Side side, GpuPool::Used& used) const {
  const bool reused = side == GpuPool::Side::judged ? runner_reused_ : reference_runner_reused_;
  const bool untouched = session.is_untouched();
  // One that has served this client before still is no fresh one.
  if (untouched ? reused : may_serve_again(side)) {
    used.clean.push_back({.process = session.release(), .side = side});
  } else {
    (untouched ? used.untouched : used.ended).push_back(session.release());
  }
}

// What a run on the device could leave behind for the next: nothing but memory that is scrubbed and
// a module that is unloaded. Device code that takes memory of its own, or has some in each thread,
// would leave that.
bool KernelJob::may_serve_again(GpuPool::Side side) const {
  const bool judged = side == GpuPool::Side::judged;
  const auto& program = judged ? program_ : reference_program_;
  return (judged ? clean_ : reference_clean_) && !task_.client.empty() && program &&
         !program->leaves_memory();
}

Conclusion KernelJob::run() {
  const auto asked = Clock::now();
  if (task_.until > Until::compiled) start_runners();
  runners_wait_ = Clock::now() - asked;
  // While the compiler works.
  if (referee_) {
    referee_->begin_open(task_.kernel.contract, {.atol = task_.atol, .rtol = task_.rtol},
                         task_.expected, task_.in_double);
  }
  Step ended = task_.listing ? list_stage() : compile_stage();
  if (!ended && task_.until > Until::compiled) ended = prepare_stage();
  if (!ended && task_.until > Until::compiled) ended = validate_stage();
  if (!ended && task_.until > Until::validated) ended = timed_stage();
  if (!ended && task_.until > Until::timed) profile_stage();
  // What the referee was asked ahead it does before the device is another's.
  if (ended && referee_ && fills_ahead_) referee_->take_ahead();
  end_failed(ended);
  lease_.reset();
  hung_ = !repeats_ || lost_reference_ || (ended && ended->verdict == Verdict::timed_out);
  if (ended && gpu_ != nullptr && kernel_ && !kernel_->is_untouched()) gpu_->failed();
  if (!ended && ran_ && task_.generalise) generalise_stage();
  if (!ended) ended = cancelled_if(stop_);
  return conclude(ended);
}

KernelJob::Step KernelJob::prepare_reference(json& body) {
  const contract::Contract& contract = task_.kernel.contract;
  if (python_reference_) {
    auto ended = python_reference_->bind(*task_.reference, contract, referee_->places());
    if (ended) return about_reference(std::move(*ended));
    body["reference"] = {{"kernel", python_reference_->name()}};
    return std::nullopt;
  }
  auto loaded =
      reference_->load(*task_.reference, *reference_program_, contract, referee_->places());
  if (auto* ended = std::get_if<Ended>(&loaded)) {
    if (gpu_ == nullptr) {
      *ended = unless_refused(std::move(*ended), compiler_, *task_.reference, stop_);
    }
    return about_reference(std::move(*ended));
  }
  body["reference"] = {{"kernel", std::get<Loaded>(loaded).display_name}};
  tell_resources(*task_.reference, *reference_program_, std::get<Loaded>(loaded).entry,
                 body["reference"]);
  return double_reference_ ? prepare_in_double(std::get<Loaded>(loaded)) : std::nullopt;
}

// In a process that is neither side's.
KernelJob::Step KernelJob::prepare_in_double(const Loaded& reference) {
  const RunnerRole role = gpu_ != nullptr ? RunnerRole::gpu_kernel : RunnerRole::kernel;
  auto session =
      std::make_unique<KernelSession>(gpu_ != nullptr ? gpu_->start_apart() : runners_.start(role),
                                      role, "/" + task_.reference_name, stop_);
  return double_reference_->load(std::move(session), reference.display_name,
                                 gpu_ != nullptr ? kMaxGpuArenaBytes : kMaxArenaBytes);
}

void KernelJob::tell_resources(const KernelSource& source, const Program& program,
                               const std::string& entry, json& body) const {
  if (gpu_ == nullptr) return;
  // The compiler's listing is a claim; one that cannot be read tells nothing.
  auto told = decode_claim(RunnerRole::compile, [&]() -> std::variant<json, Ended> {
    return tell_launch(source, program, entry, gpu_->gpu());
  });
  if (const auto* resources = std::get_if<json>(&told); resources && !resources->is_null()) {
    body["resources"] = *resources;
  }
}

KernelJob::Step KernelJob::lease_device(json& body) {
  if (gpu_ == nullptr) return std::nullopt;
  const auto asked = Clock::now();
  if (auto ended = take_turn(lease_, *gpu_, task_.client, task_.timeout, stop_)) return ended;
  body["device"] = gpu_->gpu().device();
  body["lease_wait_ms"] = std::chrono::duration<double, std::milli>(Clock::now() - asked).count();
  return std::nullopt;
}

std::string KernelJob::device_name() const {
  return gpu_ != nullptr ? gpu_->gpu().device() : "emulator";
}

KernelJob::Step KernelJob::refuse_size() const {
  const std::uint64_t most = gpu_ != nullptr ? kMaxGpuArenaBytes : kMaxArenaBytes;
  if (referee_->arena_bytes() <= most) return std::nullopt;
  return Ended{.verdict = Verdict::contract_invalid,
               .summary = "The tensors need " + std::to_string(referee_->arena_bytes() >> 20) +
                          " MiB; " + device_name() + " takes up to " + std::to_string(most >> 20) +
                          " MiB. Use smaller shapes."};
}

void KernelJob::warn_of_contract(const std::string& display_name) {
  const contract::Contract& contract = task_.kernel.contract;
  for (const auto& doubt : doubtful_types(contract, display_name, task_.kernel.source)) {
    warnings_.push_back(
        {{"code", "type_differs"},
         {"pointer", "/" + task_.judged_name + "/io/args/" + std::to_string(doubt.argument)},
         {"message", doubt.message}});
  }
  for (const auto& name : unset_constants(program_->ptx)) {
    warnings_.push_back(
        {{"code", "constant_unset"},
         {"pointer", "/" + task_.judged_name},
         {"message", "'" + name +
                         "' in constant memory is read and holds zeros: no host fills it here. "
                         "Give it values in the source, or pass a tensor."}});
  }
}

KernelJob::Step KernelJob::prepare_stage() {
  StageClock clock(reporter_, "prepared");
  execution_left_ = task_.timeout;
  const contract::Contract& contract = task_.kernel.contract;
  if (auto ended = referee_->opened()) return clock.tell(std::move(*ended));
  const bool has_answer =
      std::any_of(contract.args.begin(), contract.args.end(), [](const contract::Arg& arg) {
        return arg.is_tensor() && arg.is_written() && arg.tensor_spec->elements() > 0;
      });
  if ((task_.reference || !task_.expected.empty()) && !has_answer) {
    return clock.tell(Ended{.verdict = Verdict::contract_invalid,
                            .summary = "No output has an element: there is nothing to compare."});
  }
  if (auto ended = refuse_size()) return clock.tell(std::move(ended));
  if (auto ended = lease_device(clock.body)) return clock.tell(std::move(ended));
  fill_ahead();
  clock.body["runners_wait_ms"] = std::chrono::duration<double, std::milli>(runners_wait_).count();
  if (task_.reference) {
    if (auto ended = prepare_reference(clock.body)) return clock.tell(std::move(ended));
  }
  auto loaded = kernel_->load(task_.kernel, *program_, contract, referee_->places());
  if (auto* ended = std::get_if<Ended>(&loaded)) {
    if (gpu_ == nullptr) {
      *ended = unless_refused(std::move(*ended), compiler_, task_.kernel, stop_);
    }
    ended->detail["which"] = "kernel";
    return clock.tell(std::move(*ended));
  }
  if (gpu_ == nullptr && contract.launch && contract.launch->block) {
    const auto& block = *contract.launch->block;
    if (auto ended =
            too_many_registers(std::get<Loaded>(loaded), std::uint64_t{block.x} * block.y * block.z,
                               compiler_, task_.kernel, stop_)) {
      return clock.tell(std::move(ended));
    }
  }
  clock.body["kernel"] = std::get<Loaded>(loaded).display_name;
  warn_of_contract(std::get<Loaded>(loaded).display_name);
  clock.body["kernels"] = std::get<Loaded>(loaded).kernels;
  clock.body["device"] = device_name();
  if (gpu_ != nullptr) clock.body["device_name"] = gpu_->gpu().name;
  tell_resources(task_.kernel, *program_, std::get<Loaded>(loaded).entry, clock.body);
  clock.body["arguments"] = arguments_of(contract);
  clock.body["arena_bytes"] = referee_->arena_bytes();
  return clock.tell(std::nullopt);
}

}  // namespace assay::node
