#include "engine/node/kernel_session.h"

#include <algorithm>

#include "engine/node/passed_scalar.h"

#include "engine/node/element_types.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kLoadLimit{30};
// Dozens of passes, and the set-up of the counters before them.
constexpr std::chrono::seconds kProfileLimit{90};
// The runner ends a launch by itself when its budget is spent; the engine's own deadline is the net
// under that.
constexpr std::chrono::milliseconds kRunGrace{500};
// Of what a kernel printed, in an answer; and how many kernels it names.
constexpr std::size_t kToldOutputBytes = 2000;
constexpr std::size_t kToldKernels = 50;
constexpr std::size_t kToldNameBytes = 200;
constexpr std::size_t kRunMemoryBytes = 4ULL << 30;

json dim(const std::optional<contract::LaunchDim>& dim, std::uint32_t default_x) {
  if (!dim) return json::array({default_x, 1, 1});
  return json::array({dim->x, dim->y, dim->z});
}

Ended contract_invalid(std::string message, const std::string& pointer) {
  Ended ended{.verdict = Verdict::contract_invalid,
              .summary = "The contract does not fit the kernel: " + message + " (" + pointer + ")"};
  ended.detail["violations"] =
      json::array({{{"pointer", pointer}, {"message", std::move(message)}}});
  return ended;
}

Verdict verdict_of(const std::string& ending) {
  if (ending == "faulted") return Verdict::crashed;
  if (ending == "budget_instructions" || ending == "budget_wall") return Verdict::timed_out;
  if (ending == "out_of_memory") return Verdict::out_of_memory;
  if (ending == "unsupported") return Verdict::unsupported;
  if (ending == "invalid_launch") return Verdict::launch_failed;
  if (ending == "stopped") return Verdict::cancelled;
  return Verdict::engine_fault;
}

// A source may have thousands of kernels, with names of kilobytes.
json told_kernels(const json& kernels) {
  json told = json::array();
  for (const auto& kernel : kernels) {
    if (told.size() == kToldKernels) break;
    json item = kernel;
    for (const char* key : {"name", "display_name", "base_name"}) {
      item[key] = kernel.at(key).get<std::string>().substr(0, kToldNameBytes);
    }
    if (item.at("parameters").size() > kToldKernels) item.erase("parameters");
    told.push_back(std::move(item));
  }
  return told;
}

std::string at_line(const json& fault) {
  const json& where = fault.at("where");
  if (where.at("line").get<int>() == 0) return {};
  return " at " + where.at("file").get<std::string>() + ":" +
         std::to_string(where.at("line").get<int>());
}

}  // namespace

KernelSession::KernelSession(std::unique_ptr<RunnerProcess> process, RunnerRole role,
                             std::string pointer, std::stop_token stop)
    : process_(std::move(process)),
      role_(role),
      pointer_(std::move(pointer)),
      stop_(std::move(stop)) {}

std::optional<Ended> KernelSession::bind(const contract::Contract& called,
                                         const contract::Contract& judged,
                                         const std::vector<TensorPlace>& places) {
  launch_ = called.launch.value_or(contract::LaunchConfig{});
  for (std::size_t i = 0; i < called.args.size(); ++i) {
    const auto& arg = called.args[i];
    if (arg.is_meta) continue;
    contract_index_.push_back(i);
    if (!arg.is_tensor()) {
      arguments_.push_back(passed_scalar(arg));
      continue;
    }
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&](const auto& one) { return one.name == arg.name; });
    const std::string pointer = pointer_ + "/io/args/" + std::to_string(i);
    if (place == places.end()) {
      return contract_invalid("the kernel under test has no tensor named '" + arg.name + "'",
                              pointer);
    }
    const auto& wanted = *judged.args[place->argument].tensor_spec;
    if (wanted.shape != arg.tensor_spec->shape || wanted.dtype != arg.tensor_spec->dtype ||
        wanted.strides != arg.tensor_spec->strides) {
      return contract_invalid("tensor '" + arg.name +
                                  "' has another shape, dtype or strides than that of the kernel "
                                  "under test: both are given the same memory",
                              pointer);
    }
    arguments_.push_back(
        {{"name", arg.name},
         {"type", "tensor"},
         {"offset", place->offset},
         {"bytes", place->bytes},
         {"uninitialised", !arg.is_read() && !arg.tensor_spec->init && !arg.tensor_spec->data}});
  }
  return std::nullopt;
}

std::optional<Ended> KernelSession::misfits(const json& reply) const {
  if (reply.at("misfits").empty()) return std::nullopt;
  json violations = json::array();
  for (const auto& misfit : reply.at("misfits")) {
    const auto index = misfit.at("argument").get<std::size_t>();
    std::string pointer = pointer_ + "/io/args";
    if (index < contract_index_.size()) pointer += "/" + std::to_string(contract_index_[index]);
    violations.push_back({{"pointer", pointer}, {"message", misfit.at("message")}});
  }
  Ended ended = contract_invalid(violations[0]["message"], violations[0]["pointer"]);
  ended.detail["violations"] = std::move(violations);
  return ended;
}

std::variant<Loaded, Ended> KernelSession::load(const KernelSource& source, const Program& program,
                                                const contract::Contract& judged,
                                                const std::vector<TensorPlace>& places) {
  if (auto ended = bind(program.contract_of(source), judged, places)) return *ended;
  std::string wanted = !program.entry.empty() ? program.entry : source.kernel_name;
  if (wanted.empty()) wanted = first_global(source.source);
  frames::Frame request;
  request.body = {{"type", "load"},
                  {"kernel", wanted},
                  {"arguments", arguments_},
                  {"ptx_bytes", program.ptx.size()}};
  request.blob = program.ptx;
  if (role_ == RunnerRole::gpu_kernel) request.blob += program.cubin;
  untouched_ = false;
  auto reply =
      process_->ask(std::move(request), std::chrono::steady_clock::now() + kLoadLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  auto loaded = decode_claim(
      role_, [&] { return decode_loaded(std::get<frames::Frame>(reply).body, wanted); });
  if (const auto* good = std::get_if<Loaded>(&loaded)) {
    const auto mistakes = mistaken_kinds(source.contract, good->display_name, source.source);
    if (!mistakes.empty()) {
      return contract_invalid(mistakes[0].message,
                              pointer_ + "/io/args/" + std::to_string(mistakes[0].argument));
    }
  }
  return loaded;
}

std::variant<bool, Ended> KernelSession::load_sequence(json body, std::string programs) {
  frames::Frame request;
  request.body = std::move(body);
  request.body["type"] = "load_sequence";
  request.blob = std::move(programs);
  untouched_ = false;
  fresh_runs_ = false;
  auto reply =
      process_->ask(std::move(request), std::chrono::steady_clock::now() + kLoadLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  const json& said = std::get<frames::Frame>(reply).body;
  const auto type = said.value("type", std::string());
  if (type == "loaded_sequence") return said.value("has_variables", true);
  if (type != "unloadable") return our_fault("The kernel runner answered out of turn.");
  return Ended{.verdict = Verdict::unsupported,
               .summary = "The device does not take it: " + said.value("message", std::string())};
}

std::variant<Loaded, Ended> KernelSession::decode_loaded(const json& body,
                                                         const std::string& wanted) const {
  if (body.value("type", "") == "unloadable") {
    const std::string where = role_ == RunnerRole::gpu_kernel
                                  ? "The GPU cannot load this program: "
                                  : "The emulator cannot read this program (PTX line " +
                                        std::to_string(body.at("ptx_line").get<int>()) + ")" +
                                        at_line(body) + ": ";
    return Ended{.verdict = Verdict::unsupported,
                 .summary = where + body.at("message").get<std::string>(),
                 .detail = body};
  }
  if (body.value("type", "") != "loaded")
    return our_fault("The kernel runner answered out of turn.");
  if (!body.contains("kernel")) {
    const json told = told_kernels(body.at("kernels"));
    std::string names;
    for (const auto& kernel : told) {
      // Overloads share a name: their parameters tell them apart.
      const json& base = kernel.at("base_name");
      const auto same = std::count_if(told.begin(), told.end(), [&](const json& other) {
        return other.at("base_name") == base;
      });
      const char* key = same > 1 && kernel.contains("display_name") ? "display_name" : "base_name";
      names += (names.empty() ? "" : ", ") + kernel.at(key).get<std::string>();
    }
    if (told.size() < body.at("kernels").size()) names += ", …";
    return Ended{.verdict = Verdict::contract_invalid,
                 .summary = names.empty()
                                ? "No kernels found in source: it needs a `__global__` function; "
                                  "of a template, name an instance in metadata.name_expressions"
                                : "Kernel '" + wanted + "' not found. Available: [" + names + "]",
                 .detail = {{"available", told}}};
  }
  if (body.contains("unsupported")) {
    const json& gap = body.at("unsupported");
    return Ended{.verdict = Verdict::unsupported,
                 .summary = "The emulator does not execute `" +
                            gap.at("instruction").get<std::string>() + "`" + at_line(gap) +
                            "; this kernel needs a GPU.",
                 .detail = gap};
  }
  if (auto ended = misfits(body)) return *ended;
  Loaded loaded{.entry = body.at("kernel").get<std::string>(),
                .kernels = told_kernels(body.at("kernels"))};
  for (const auto& kernel : body.at("kernels")) {
    if (kernel.at("name") == loaded.entry) loaded.display_name = kernel.at("display_name");
  }
  return loaded;
}

Ended KernelSession::ending(const json& reply) const {
  const auto how = reply.at("ending").get<std::string>();
  Ended ended{.verdict = verdict_of(how)};
  const json fault = reply.value("fault", json::object());
  const std::string message = reply.value("message", std::string());
  const std::string fault_message = fault.value("message", std::string());
  switch (ended.verdict) {
    case Verdict::crashed:
      ended.summary = "The kernel crashed" + at_line(fault) + ": " + fault_message;
      break;
    case Verdict::timed_out:
      ended.summary = "The kernel did not end within its time" + at_line(fault) +
                      ". Look for a loop whose condition never changes" +
                      (fault_message.empty() ? "." : ": " + fault_message);
      break;
    case Verdict::engine_fault:
      return our_fault("A launch ended in a way that is not known (" + how + ").");
    default:
      ended.summary = "The kernel could not run to its end (" + how + ")" + ": " +
                      (message.empty() ? fault_message : message);
      break;
  }
  ended.detail = {{"ending", how}, {"fault", fault}};
  const auto printed = reply.at("printf").get<std::string>();
  if (!printed.empty()) {
    ended.detail["printf"] = printed.substr(0, kToldOutputBytes);
    ended.detail["printf_truncated"] = printed.size() > kToldOutputBytes;
  }
  return ended;
}

std::variant<json, Ended> KernelSession::ask_run(const json& extra, LentArena arena,
                                                 nanoseconds& execution_left) {
  frames::Frame request;
  request.body = launch_frame("run");
  request.body["arena_bytes"] = arena.bytes;
  request.body["on_device"] = arena.on_device;
  request.body["fresh_module"] = fresh_runs_;
  request.body["budget"] = {{"thread_instructions", 0},
                            {"wall_ns", std::max<std::int64_t>(execution_left.count(), 1)},
                            {"memory_bytes", kRunMemoryBytes},
                            {"threads", 0}};
  request.body.update(extra);
  request.descriptors.push_back(std::move(arena.descriptor));
  const auto start = std::chrono::steady_clock::now();
  auto reply = process_->ask(std::move(request), start + execution_left + kRunGrace, stop_);
  execution_left -= std::chrono::steady_clock::now() - start;
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  return std::move(std::get<frames::Frame>(reply).body);
}

std::variant<Ran, Ended> KernelSession::run(LentArena arena, nanoseconds& execution_left) {
  auto reply = ask_run(json::object(), std::move(arena), execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(role_, [&] { return decode_ran(std::get<json>(reply)); });
}

std::variant<Inspected, Ended> KernelSession::inspect(const InspectionOrder& order, LentArena arena,
                                                      nanoseconds& execution_left) {
  auto reply = ask_run({{"inspect", order.what}, {"checked_blocks", order.checked_blocks}},
                       std::move(arena), execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(role_, [&]() -> std::variant<Inspected, Ended> {
    const json& body = std::get<json>(reply);
    if (body.value("type", "") != "ran") {
      return our_fault("The kernel runner answered out of turn.");
    }
    Inspected said{.ending = body.at("ending").get<std::string>(),
                   .message = body.at("message").get<std::string>(),
                   .findings = body.at("findings"),
                   .notes = body.at("notes"),
                   .checked_blocks = body.at("checked_blocks"),
                   .blocks = body.at("blocks")};
    if (body.contains("profile")) said.profile = body.at("profile");
    return said;
  });
}

std::variant<Ran, Ended> KernelSession::decode_ran(const json& body) {
  if (body.value("type", "") != "ran") return our_fault("The kernel runner answered out of turn.");
  range_failure_ = body.value("range_failure", range_failure_);
  if (body.at("ending") != "completed") return ending(body);
  return Ran{.elapsed = nanoseconds(body.at("elapsed_ns").get<std::int64_t>()),
             .counters = body.at("counters"),
             .printf_output = body.at("printf").get<std::string>(),
             .printf_truncated = body.at("printf_truncated").get<bool>()};
}

json KernelSession::launch_frame(const char* type) const {
  json frame = {{"type", type},
                {"grid", dim(launch_.grid, 1)},
                {"block", dim(launch_.block, 256)},
                {"shared_bytes", launch_.shared_mem_bytes.value_or(0)},
                {"arguments", arguments_}};
  if (!range_.empty()) frame["range"] = range_;
  return frame;
}

std::variant<std::uint32_t, Ended> KernelSession::stage(std::vector<LentArena> arenas,
                                                        std::uint32_t places) {
  frames::Frame request;
  request.body = {{"type", "stage"},
                  {"arena_bytes", arenas.front().bytes},
                  {"on_device", arenas.front().on_device},
                  {"places", places}};
  for (auto& arena : arenas) request.descriptors.push_back(std::move(arena.descriptor));
  auto reply =
      process_->ask(std::move(request), std::chrono::steady_clock::now() + kLoadLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  const json& body = std::get<frames::Frame>(reply).body;
  if (body.value("type", "") == "staged") {
    const auto made = body.value("places", 0U);
    if (made == 0) return our_fault("The kernel runner staged nothing.");
    return made;
  }
  if (body.value("type", "") != "unstaged")
    return our_fault("The kernel runner answered out of turn.");
  return Ended{.verdict = Verdict::out_of_memory,
               .summary = "The device has not the memory that timing needs (" +
                          body.value("message", std::string()) + "). Use smaller shapes."};
}

std::variant<Turn, Ended> KernelSession::time(const TurnOrder& order, nanoseconds& execution_left) {
  frames::Frame request;
  request.body = launch_frame("time");
  request.body["view"] = order.view;
  request.body["warmups"] = order.warmups;
  request.body["fresh_module"] = order.fresh_module;
  request.body["tell_state"] = order.tell_state;
  request.body["wall_ns"] = std::max<std::int64_t>(execution_left.count(), 1);
  json runs = json::array();
  for (const RunOrder& run : order.runs) {
    runs.push_back(json::array({run.place, run.content, run.keep}));
  }
  request.body["runs"] = std::move(runs);
  const auto start = std::chrono::steady_clock::now();
  auto reply = process_->ask(std::move(request), start + execution_left + kRunGrace, stop_);
  execution_left -= std::chrono::steady_clock::now() - start;
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  return decode_claim(role_, [&] { return decode_timed(std::get<frames::Frame>(reply).body); });
}

std::variant<KernelSession::Counted, Ended> KernelSession::profile(
    LentArena arena, const std::string& library, const std::vector<std::string>& metrics) {
  frames::Frame request;
  request.body = launch_frame("profile");
  request.body["arena_bytes"] = arena.bytes;
  request.body["on_device"] = arena.on_device;
  request.body["library"] = library;
  request.body["metrics"] = metrics;
  request.descriptors.push_back(std::move(arena.descriptor));
  auto reply =
      process_->ask(std::move(request), std::chrono::steady_clock::now() + kProfileLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  return decode_claim(role_, [&]() -> std::variant<Counted, Ended> {
    const json& body = std::get<frames::Frame>(reply).body;
    if (body.value("type", "") != "profiled") {
      return our_fault("The kernel runner answered out of turn.");
    }
    if (body.at("ending") != "completed") return ending(body);
    Counted counted{.refused = body.at("refused").get<std::vector<std::string>>(),
                    .passes = body.at("passes"),
                    .missing = body.at("missing"),
                    .setup_ms = body.at("setup_ms"),
                    .counting_ms = body.at("counting_ms")};
    for (const auto& [metric, value] : body.at("values").items()) {
      if (value.is_number()) counted.values[metric] = value.get<double>();
    }
    return counted;
  });
}

std::variant<Turn, Ended> KernelSession::decode_timed(const json& body) {
  if (body.value("type", "") != "timed") {
    return our_fault("The kernel runner answered out of turn.");
  }
  range_failure_ = body.value("range_failure", range_failure_);
  if (body.at("ending") != "completed") return ending(body);
  Turn turn{.samples_ns = body.at("samples_ns").get<std::vector<double>>(),
            .launches = body.at("launches"),
            .event_overhead_ns = body.at("event_overhead_ns"),
            .state = body.value("state", json(nullptr)),
            .note = body.at("note")};
  if (body.at("clock_mhz").is_number()) turn.clock_mhz = body.at("clock_mhz").get<double>();
  return turn;
}

}  // namespace assay::node
