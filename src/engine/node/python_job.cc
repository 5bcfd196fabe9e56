#include "engine/node/python_job.h"

#include <algorithm>

#include "engine/node/device_turn.h"
#include "engine/node/kernel_wording.h"
#include "engine/node/python_start.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

constexpr std::uint64_t kMaxArenaBytes = 256ULL << 20;
constexpr std::uint64_t kMaxGpuArenaBytes = 2ULL << 30;
constexpr std::uint64_t kConstructionSeed = 42;  // the manual's
constexpr std::size_t kMostOutputs = 64;

bool has_output(const contract::Contract& contract) {
  return std::any_of(contract.args.begin(), contract.args.end(),
                     [](const contract::Arg& arg) { return arg.is_tensor() && arg.is_written(); });
}

json tensor_argument(const std::string& name, const json& described, const char* role) {
  json spec = {{"shape", described.at("shape")}, {"dtype", described.at("dtype")}};
  // Replaced by what get_inputs() makes.
  if (std::string_view(role) == "input") spec["init"] = {{"kind", "zeros"}};
  return {{"name", name}, {"type", "tensor"}, {"role", role}, {"tensor_spec", std::move(spec)}};
}

json scalar_argument(const std::string& name, const json& value) {
  const char* type = value.is_boolean()          ? "bool"
                     : value.is_number_integer() ? "int"
                     : value.is_number()         ? "float"
                                                 : "str";
  return {{"name", name}, {"type", type}, {"value", value}};
}

// What a process said of its source.
void note_warnings(const json& said, const std::string& whose, json& warnings) {
  for (const auto& warning : said) {
    if (!warning.is_object() || !warning.value("message", json()).is_string()) continue;
    warnings.push_back(
        {{"code", "source"}, {"message", whose + warning.at("message").get<std::string>()}});
  }
}

// A contract made of what a process said: a claim, and checked as one.
std::variant<contract::Contract, Ended> contract_of(const json& document) {
  auto parsed = contract::parse(document);
  if (auto* good = std::get_if<contract::Parsed>(&parsed)) return std::move(good->contract);
  const auto& violation = std::get<contract::Refused>(parsed).violations.front();
  return Ended{.verdict = Verdict::contract_invalid,
               .summary = "No contract can be made of its inputs and outputs: " +
                          violation.message + " (" + violation.pointer + "). Give one in io."};
}

// What there is where a get_inputs() should be.
std::string in_place_of_inputs(const PythonLoaded& kernel, const PythonLoaded& reference) {
  if (reference.no_inputs.empty()) {
    return kernel.no_inputs.empty() ? "" : " (" + kernel.no_inputs + ")";
  }
  return " (the reference: " + reference.no_inputs +
         (kernel.no_inputs.empty() ? "" : "; the kernel: " + kernel.no_inputs) + ")";
}

}  // namespace

std::optional<Ended> unsupported_python(const KernelTask& task, const Gpu* gpu) {
  const auto refuse = [](std::string summary, const std::string& missing) {
    return Ended{.verdict = Verdict::unsupported,
                 .summary = std::move(summary),
                 .detail = {{"missing", missing}}};
  };
  if (task.reference && !task.reference->is_python() && task.kernel.is_python()) {
    return refuse("A reference in `" + task.reference->kernel_type +
                      "` cannot judge a Python source yet; the other way round it can: a torch "
                      "reference, and a `cuda` or `triton` kernel.",
                  "a comparison across processes of different kinds");
  }
  if (gpu == nullptr && task.has_python_reference() && task.device.starts_with("gpu")) {
    return refuse(
        "The reference is Python, and its torch was built for CPU tensors only: leave "
        "`device` at auto, or name another interpreter with --python.",
        "a torch built for CUDA");
  }
  return std::nullopt;
}

PythonJob::PythonJob(const Runners& runners, PythonZygote& zygote, GpuPool* gpu,
                     PythonSpares* spares, WrapperTools wrappers, KernelTask task,
                     Reporter& reporter, std::stop_token stop)
    : runners_(runners),
      zygote_(zygote),
      wrappers_(wrappers),
      pool_(gpu),
      spares_(spares),
      gpu_(gpu != nullptr ? &gpu->gpu() : nullptr),
      task_(std::move(task)),
      reporter_(reporter),
      stop_(std::move(stop)) {}

std::variant<std::unique_ptr<PythonSession>, Ended> PythonJob::start_session(const char* which) {
  auto process = spares_ != nullptr ? spares_->take(stop_)
                                    : start_python_runner(runners_, zygote_, nullptr, stop_);
  if (auto* ended = std::get_if<Ended>(&process)) return std::move(*ended);
  return std::make_unique<PythonSession>(
      std::get<std::unique_ptr<RunnerProcess>>(std::move(process)), which, stop_);
}

// Clearing a context away takes the driver a tenth of a second.
PythonJob::~PythonJob() {
  if (gpu_ == nullptr) return;
  std::vector<std::unique_ptr<RunnerProcess>> used;
  for (auto* session : {&kernel_, &reference_}) {
    if (*session) used.push_back((*session)->release());
  }
  spares_->give_back(std::move(used));
  GpuPool::Used of_pool{.discards = discards_};
  if (referee_) of_pool.referee = {referee_->release(), referee_->kernels()};
  if (profile_) {
    of_pool.ended = profile_->release();
    of_pool.counted = profile_->has_counted();
  }
  if (of_pool.referee.process || !of_pool.ended.empty()) pool_->give_back(std::move(of_pool));
}

PythonJob::Step PythonJob::start_runners() {
  if (task_.until > Until::compiled && gpu_ != nullptr) {
    discards_ = pool_->discards();
    auto taken = pool_->take_referee();
    referee_ = std::make_unique<RefereeSession>(std::move(taken.process), taken.kernels, stop_);
  } else if (task_.until > Until::compiled) {
    referee_ =
        std::make_unique<RefereeSession>(runners_.start(RunnerRole::referee), nullptr, stop_);
  }
  if (task_.reference) {
    auto session = start_session("ref_kernel");
    if (auto* ended = std::get_if<Ended>(&session)) return std::move(*ended);
    reference_ = std::get<std::unique_ptr<PythonSession>>(std::move(session));
  }
  auto session = start_session("kernel");
  if (auto* ended = std::get_if<Ended>(&session)) return std::move(*ended);
  kernel_ = std::get<std::unique_ptr<PythonSession>>(std::move(session));
  return std::nullopt;
}

// Its host code can launch as long as it lives: beside the next job's runs, too.
void PythonJob::end_on_device(Step& ended) {
  for (auto* session : {&kernel_, &reference_}) {
    if (*session) (*session)->dismiss();
  }
  if (!ended || !may_go_on(*ended)) return;
  bool gone = true;
  for (auto* session : {&kernel_, &reference_}) {
    if (*session) gone = (*session)->end() && gone;
  }
  if (gone) return;
  if (lease_) lease_->doubt();
  ended->detail["left_running"] = true;
}

Conclusion PythonJob::run() {
  Step ended = compile_stage();
  if (!ended && task_.until > Until::compiled) ended = prepare_stage();
  if (!ended && task_.until > Until::compiled) ended = validate_stage();
  if (!ended && task_.until > Until::validated) ended = timed_stage();
  if (!ended && task_.until > Until::timed) profile_stage();
  if (gpu_ != nullptr) end_on_device(ended);
  lease_.reset();
  if (!ended) ended = cancelled_if(stop_);
  return conclude(ended);
}

PythonJob::Step PythonJob::load(PythonSession& session, const KernelSource& source,
                                bool is_candidate, PythonLoaded& loaded, bool debug) {
  std::unique_ptr<WrapperBuild> wrappers;
  if (builds_wrappers(source)) {
    wrappers = std::make_unique<WrapperBuild>(wrappers_, source, session.file(),
                                              gpu_ != nullptr ? gpu_->arch() : kEmulatorArch, stop_,
                                              debug);
  }
  auto answer = session.load(source,
                             {.is_candidate = is_candidate,
                              .seed = kConstructionSeed,
                              .on_gpu = gpu_ != nullptr,
                              .init_inputs = is_candidate ? reference_loaded_.init_inputs : json(),
                              .timeout = task_.timeout},
                             std::move(wrappers));
  if (auto* ended = std::get_if<Ended>(&answer)) {
    return is_candidate ? about_kernel(std::move(*ended)) : about_reference(std::move(*ended));
  }
  loaded = std::get<PythonLoaded>(std::move(answer));
  if (is_candidate) note_build(loaded.built);
  loaded.built = session.built();
  return std::nullopt;
}

PythonJob::Step PythonJob::compile_stage() {
  StageClock clock(reporter_, "compiled");
  clock.body = {{"interpreter", zygote_.interpreter().executable}};
  Step ended = start_runners();
  if (!ended && reference_) ended = load(*reference_, *task_.reference, false, reference_loaded_);
  if (!ended) ended = load(*kernel_, task_.kernel, true, kernel_loaded_);
  if (ended) {
    if (ended->detail.contains("log")) {
      clock.artifacts.push_back({"log", "text/plain", ended->detail["log"].get<std::string>()});
    }
    return clock.tell(std::move(ended));
  }
  clock.body["target"] = kernel_loaded_.name;
  if (!kernel_loaded_.built.empty()) clock.body["built"] = kernel_loaded_.built;
  clock.body["compiler"] = "torch " + kernel_loaded_.torch + ", Python " + kernel_loaded_.python;
  note_warnings(kernel_loaded_.warnings, "", warnings_);
  // Of a reference only what its time hangs on.
  json timed = json::array();
  for (const auto& warning : reference_loaded_.warnings) {
    if (warning.is_object() && warning.value("code", json()) == "uncompiled") {
      timed.push_back(warning);
    }
  }
  note_warnings(timed, "The reference: ", warnings_);
  return clock.tell(std::nullopt);
}

PythonJob::Step PythonJob::take_own_inputs() {
  if (!reference_loaded_.has_inputs && !kernel_loaded_.has_inputs) {
    return Ended{
        .verdict = Verdict::contract_invalid,
        .summary =
            "No inputs available: there is no io contract, and the source has no "
            "get_inputs()" +
            in_place_of_inputs(kernel_loaded_, reference_loaded_) + ".",
        .detail = {{"violations", json::array({{{"pointer", "/" + task_.judged_name + "/io"},
                                                {"message",
                                                 "is needed where there is no "
                                                 "get_inputs()"}}})}}};
  }
  provider_ = reference_loaded_.has_inputs ? reference_.get() : kernel_.get();
  if (provider_ == kernel_.get() && reference_) {
    warnings_.push_back({{"code", "own_inputs"},
                         {"message",
                          "The inputs are the kernel's own get_inputs(): the reference "
                          "has none, and there is no io contract."}});
  }
  auto told = provider_->own_inputs(kConstructionSeed, input_time_);
  if (auto* ended = std::get_if<Ended>(&told)) return std::move(*ended);
  auto made = decode_claim(RunnerRole::python, [&]() -> std::variant<contract::Contract, Ended> {
    json arguments = json::array();
    for (const auto& input : std::get<json>(told).at("inputs")) {
      const std::string name = "input" + std::to_string(arguments.size());
      arguments.push_back(input.contains("value") ? scalar_argument(name, input.at("value"))
                                                  : tensor_argument(name, input, "input"));
    }
    return contract_of({{"args", std::move(arguments)}});
  });
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  contract_ = std::get<contract::Contract>(std::move(made));
  input_groups_ = std::get<json>(told).at("groups");
  for (auto* session : {kernel_.get(), reference_.get()}) {
    if (session != nullptr) session->group_inputs(input_groups_);
  }
  return std::nullopt;
}

// What the contract does not say of outputs, one call says.
PythonJob::Step PythonJob::add_outputs() {
  if (auto ended = referee_->open(contract_, {}, json::object())) return ended;
  if (auto ended = too_large()) return ended;  // before anybody makes the inputs
  if (referee_->arena_bytes() == 0) {
    return Ended{.verdict = Verdict::contract_invalid,
                 .summary = "It takes no tensor: there is nothing to judge it on."};
  }
  if (auto ended = oracle().bind(reference_ ? reference_contract_ : contract_, contract_,
                                 referee_->places())) {
    return ended;
  }
  PythonInputs inputs(*referee_, provider_, contract_, input_time_);
  auto arena = inputs.fill(0, kJudgedSlot);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  auto told =
      oracle().shapes(std::get<LentArena>(std::move(arena)), inputs.seed(0), execution_left_);
  ran_ = true;
  if (auto* ended = std::get_if<Ended>(&told)) return std::move(*ended);
  auto made = decode_claim(RunnerRole::python, [&]() -> std::variant<contract::Contract, Ended> {
    const json& outputs = std::get<json>(told);
    if (outputs.size() > kMostOutputs) {
      return Ended{.verdict = Verdict::contract_invalid,
                   .summary = "It returns " + std::to_string(outputs.size()) +
                              " tensors, and at most " + std::to_string(kMostOutputs) +
                              " are judged: return fewer, or stack those that belong together."};
    }
    if (outputs.empty()) {
      return Ended{.verdict = Verdict::contract_invalid,
                   .summary = "It returns " + std::to_string(outputs.size()) +
                              " tensors, and the contract names no output: there is nothing to "
                              "judge."};
    }
    json document = contract::to_json(contract_);
    std::size_t number = 0;
    for (const auto& output : outputs) {
      // No argument of the user's has such a name in a place where it would matter: it is unique.
      std::string name = "output" + std::to_string(number++);
      const auto taken = [&](const contract::Arg& arg) { return arg.name == name; };
      while (std::any_of(contract_.args.begin(), contract_.args.end(), taken)) name += "_";
      document["args"].push_back(tensor_argument(name, output, "output"));
    }
    return contract_of(document);
  });
  if (auto* ended = std::get_if<Ended>(&made)) return std::move(*ended);
  contract_ = std::get<contract::Contract>(std::move(made));
  return std::nullopt;
}

PythonJob::Step PythonJob::complete_contract() {
  if (task_.kernel.has_contract) {
    contract_ = task_.kernel.contract;
  } else if (task_.reference && task_.reference->has_contract) {
    contract_ = task_.reference->contract;
  } else if (auto ended = take_own_inputs()) {
    return provider_ == nullptr || provider_ == kernel_.get() ? about_kernel(std::move(*ended))
                                                              : about_reference(std::move(*ended));
  }
  reference_contract_ =
      task_.reference && task_.reference->has_contract ? task_.reference->contract : contract_;
  called_ = contract_;
  if (!has_output(contract_)) {
    if (auto ended = add_outputs()) {
      return reference_ ? about_reference(std::move(*ended)) : about_kernel(std::move(*ended));
    }
  }
  if (auto ended =
          referee_->open(contract_, {.atol = task_.atol, .rtol = task_.rtol}, task_.expected)) {
    return ended;
  }
  if (auto ended = too_large()) return ended;
  return bind_both();
}

PythonJob::Step PythonJob::too_large() const {
  const std::uint64_t most = referee_->is_on_device() ? kMaxGpuArenaBytes : kMaxArenaBytes;
  if (referee_->arena_bytes() <= most) return std::nullopt;
  return Ended{.verdict = Verdict::contract_invalid,
               .summary = "The tensors need " + std::to_string(referee_->arena_bytes() >> 20) +
                          " MiB; Python kernels take up to " + std::to_string(most >> 20) +
                          " MiB. Use smaller shapes."};
}

PythonJob::Step PythonJob::bind_both() {
  if (reference_) {
    if (auto ended = reference_->bind(reference_contract_, contract_, referee_->places())) {
      return about_reference(std::move(*ended));
    }
  }
  if (auto ended = kernel_->bind(called_, contract_, referee_->places())) {
    return about_kernel(std::move(*ended));
  }
  return std::nullopt;
}

PythonJob::Step PythonJob::lease_device(json& body) {
  body["device"] = gpu_ != nullptr ? gpu_->device() : "cpu";
  if (gpu_ == nullptr) return std::nullopt;
  const auto asked = std::chrono::steady_clock::now();
  if (auto ended = take_turn(lease_, *pool_, task_.client, task_.timeout, stop_)) return ended;
  body["device_name"] = gpu_->name;
  body["lease_wait_ms"] =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - asked).count();
  return std::nullopt;
}

PythonJob::Step PythonJob::prepare_stage() {
  StageClock clock(reporter_, "prepared");
  execution_left_ = task_.timeout;
  input_time_ = InputTime::of(task_.timeout);
  if (auto ended = lease_device(clock.body)) return clock.tell(std::move(ended));
  if (auto ended = complete_contract()) return clock.tell(std::move(ended));
  inputs_.emplace(*referee_, provider_, contract_, input_time_);
  clock.body["kernel"] = kernel_loaded_.name;
  if (reference_) clock.body["reference"] = {{"kernel", reference_loaded_.name}};
  clock.body["arguments"] = arguments_of(contract_);
  clock.body["inputs_from"] = provider_ == nullptr         ? "contract"
                              : provider_ == kernel_.get() ? task_.judged_name
                                                           : task_.reference_name;
  clock.body["arena_bytes"] = referee_->arena_bytes();
  return clock.tell(std::nullopt);
}

}  // namespace assay::node
