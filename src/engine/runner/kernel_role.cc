// The kernel runner: device code only. It sees the program, input bytes and empty outputs; never a
// seed, an expected output or a clock that counts.
//
//   → {type: "load", kernel, arguments, ptx_bytes} + PTX, then machine code if the device has any
//                      kernel: wanted name or ""; arguments without values
//   ← {type: "loaded", kernels, kernel, misfits, unsupported}
//     or {type: "unloadable", ptx_line, message, where}
//   → {type: "load_sequence", …} (sequence.h) instead: run, stage and time are then of all its
//      steps, and what a frame says of launch and arguments is nobody's
//   ← {type: "loaded_sequence", has_variables} or {type: "unloadable", message}
//   → {type: "run", grid, block, shared_bytes, arguments, budget, arena_bytes, on_device?,
//      inspect?: [what], to_the_barrier?, copies_at_once?, range?} + arena
//                                        range: what a profiler calls it (nvtx.h)
//   ← {type: "ran", ending, message, fault, counters, printf, printf_truncated, elapsed_ns,
//      range_failure?, findings?}: without an inspection those of loads out of bounds,
//      and of an inspection {notes, profile?}
// and on a device with a clock:
//   → {type: "stage", arena_bytes, on_device, places, scratch_bytes} + arenas
//   ← {type: "staged", places} or {type: "unstaged", message}
//   → {type: "time", grid, block, shared_bytes, arguments, wall_ns, range?, turns: [{view,
//      runs: [[place, content, keep, as_left]], warmups, fresh_module, tell_state, tell_neighbours,
//      precise, renews_each, typical_ns, ramp_below_mhz, digests}]}
//   ← {type: "timed", range_failure?, turns: [{ending, message, fault, samples_ns, once_ns?,
//      launches, clock_mhz, event_overhead_ns, state?, wall?, ramp?, note, digests?,
//      begun_with?}]}: none after one that failed or has no samples; the arenas of kept runs hold
//      what those runs left, of a graph what one of its launches did; `once_ns` is of a graph's N
//      launches, beside each sample; `digests` are one for each sample, `begun_with` one for each
//      staged arena
//   → {type: "capture", grid, block, shared_bytes, arguments, turn}: a graph's turn of a "time" to
//      come, made ready for while the engine waits for somebody else
//   ← {type: "captured", note}: why it failed, else ""
//   → {type: "ready_counters", library, groups}: what a "profile" is to find ready; no answer
//   → {type: "profile", grid, block, shared_bytes, arguments, arena_bytes, on_device?, library,
//      metrics, groups: {name: [metric]}, limit_ns} + arena
//   ← {type: "profiled", ending, message, fault, values: {metric: number or null}, refused, passes,
//      missing, group_passes: {name: number}, setup_ms, counting_ms, activity: {records: [{ns,
//      registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread,
//      shared_carveout_bytes, cache_preference}], missing}, launch?: {index, registers,
//      static_shared_bytes, launches_ns}}: activity where there are no values; of a sequence its
//      launch that takes the most time
//   → {type: "reset"}
//   ← {type: "reset"}: as if it had served nobody, or {type: "kept"}: it cannot be that
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "engine/emulator/emulator.h"
#include "engine/inspection/inspection.h"
#include "engine/runner/arguments.h"
#include "engine/runner/awake.h"
#include "engine/runner/device.h"
#include "engine/runner/kernel_choice.h"
#include "engine/runner/launch_frame.h"
#include "engine/runner/nvtx.h"
#include "engine/runner/outcome_frame.h"
#include "engine/runner/plan_frame.h"
#include "engine/runner/ptx_places.h"
#include "engine/runner/role.h"
#include "engine/runner/textures.h"

namespace assay::runner {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// What a turn has to itself whatever those before it took.
constexpr std::chrono::nanoseconds kLeastWall{1};

json describe(const emulator::KernelInfo& kernel) {
  json parameters = json::array();
  for (const auto& parameter : kernel.parameters) {
    parameters.push_back({{"type", parameter.type}, {"bytes", parameter.size_bytes}});
  }
  return {{"name", kernel.name},
          {"display_name", display_name(kernel.name)},
          {"base_name", base_name(kernel.name)},
          {"parameters", std::move(parameters)},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"max_threads", kernel.max_threads}};
}

json describe_activity(const KernelActivity& activity) {
  json records = json::array();
  for (const KernelRecord& record : activity.records) {
    records.push_back({{"ns", record.end_ns - record.start_ns},
                       {"registers_per_thread", record.registers_per_thread},
                       {"static_shared_bytes", record.static_shared_bytes},
                       {"dynamic_shared_bytes", record.dynamic_shared_bytes},
                       {"local_bytes_per_thread", record.local_bytes_per_thread},
                       {"shared_carveout_bytes", record.shared_carveout_bytes},
                       {"cache_preference", record.cache_preference}});
  }
  return {{"records", std::move(records)}, {"missing", activity.missing}};
}

class Session {
 public:
  explicit Session(Device& device) : device_(device) {}

  json load_sequence(const frames::Frame& request) {
    kernel_ = nullptr;
    Sequence sequence = decode_sequence(request.body, request.blob);
    const bool has_variables = sequence.has_variables();
    const std::string why = device_.load_sequence(std::move(sequence));
    has_sequence_ = why.empty();
    if (!has_sequence_) return {{"type", "unloadable"}, {"message", why}};
    return {{"type", "loaded_sequence"}, {"has_variables", has_variables}};
  }

  json load(const frames::Frame& request) {
    kernel_ = nullptr;
    has_sequence_ = false;
    const std::string_view blob = request.blob;
    const auto ptx_bytes = request.body.value("ptx_bytes", blob.size());
    if (ptx_bytes > blob.size()) throw std::runtime_error("load with less than it says");
    cooperative_ = is_cooperative(blob.substr(0, ptx_bytes));
    auto loaded = device_.load({.ptx = blob.substr(0, ptx_bytes), .cubin = blob.substr(ptx_bytes)});
    if (const auto* error = std::get_if<emulator::ParseError>(&loaded)) {
      const auto place = PtxPlaces(blob.substr(0, ptx_bytes)).at(error->ptx_line);
      return {{"type", "unloadable"},
              {"ptx_line", error->ptx_line},
              {"message", error->message},
              {"where",
               {{"file", place ? place->file.substr(place->file.rfind('/') + 1) : std::string()},
                {"line", place ? place->line : 0}}}};
    }
    kernels_ = std::move(std::get<std::vector<emulator::KernelInfo>>(loaded));
    return describe_choice(request.body);
  }

  json run(frames::Frame request) {
    const json& body = request.body;
    const auto arena_bytes = body.at("arena_bytes").get<std::size_t>();
    if (kernel_ == nullptr && !has_sequence_) {
      throw std::runtime_error("run without a loaded kernel");
    }
    if (request.descriptors.empty()) throw std::runtime_error("run without an arena");
    const auto arena = device_.adopt({.descriptor = std::move(request.descriptors.front()),
                                      .size = arena_bytes,
                                      .on_device = body.value("on_device", false)});
    const emulator::Budget limits = decode_budget(body.at("budget"));
    if (body.value("fresh_module", false)) device_.reload();
    if (has_sequence_) return outcome_frame(device_.run_sequence(*arena, limits));
    emulator::Launch launch = decode_launch(body, arena->address());
    if (body.contains("inspect")) launch.inspection = inspection::decode_inspection(body);
    const auto buffers = tensors(body.at("arguments"), *arena);
    launch.surroundings = surroundings_of(*arena);
    const nvtx::Range range(body.value("range", std::string()));
    const auto outcome = device_.launch(launch, buffers, *arena, limits);
    json reply = outcome_frame(outcome);
    reply["findings"] = inspection::describe_findings(outcome.findings);
    if (!range.failure().empty()) reply["range_failure"] = range.failure();
    if (!launch.inspection.any()) return reply;
    reply["notes"] = outcome.inspection_notes;
    reply["checked_blocks"] = outcome.checked_blocks;
    reply["blocks"] = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    if (launch.inspection.counters)
      reply["profile"] = inspection::describe_profile(outcome.profile);
    return reply;
  }

  json stage(frames::Frame request) {
    contents_ = static_cast<std::uint32_t>(request.descriptors.size());
    try {
      places_ = device_.stage(adopted(request), request.body.at("places"),
                              request.body.at("scratch_bytes"));
    } catch (const std::runtime_error& error) {
      return {{"type", "unstaged"}, {"message", error.what()}};
    }
    return {{"type", "staged"}, {"places", places_}};
  }

  json profile(frames::Frame request) {
    const json& body = request.body;
    if ((kernel_ == nullptr && !has_sequence_) || request.descriptors.empty()) {
      throw std::runtime_error("profile out of turn");
    }
    const auto arena = device_.adopt({.descriptor = std::move(request.descriptors.front()),
                                      .size = body.at("arena_bytes").get<std::size_t>(),
                                      .on_device = body.value("on_device", false)});
    CounterRequest wanted = decode_counters(body);
    wanted.limit = std::chrono::nanoseconds(body.at("limit_ns").get<std::int64_t>());
    const Profiled profiled =
        has_sequence_ ? device_.profile_sequence(*arena, wanted)
                      : device_.profile(decode_launch(body, arena->address()), *arena, wanted);
    json reply = outcome_frame(profiled.outcome);
    reply["type"] = "profiled";
    reply["values"] = json::object();
    for (const auto& [metric, value] : profiled.readings.values) {
      // JSON has no NaN: a ratio over nothing is no number.
      reply["values"][metric] = std::isfinite(value) ? json(value) : json(nullptr);
    }
    reply["refused"] = profiled.readings.refused;
    reply["passes"] = profiled.readings.passes;
    reply["missing"] = profiled.readings.missing;
    reply["group_passes"] = profiled.group_passes;
    reply["activity"] = describe_activity(profiled.activity);
    reply["setup_ms"] = profiled.setup_ms;
    reply["counting_ms"] = profiled.counting_ms;
    if (profiled.launch) {
      reply["launch"] = {{"index", profiled.launch->index},
                         {"registers", profiled.launch->registers},
                         {"static_shared_bytes", profiled.launch->static_shared_bytes},
                         {"launches_ns", profiled.launch->launches_ns}};
    }
    return reply;
  }

  void ready_counters(const json& body) { device_.ready_counters(decode_counters(body)); }

  json reset() {
    kernel_ = nullptr;
    has_sequence_ = false;
    kernels_.clear();
    contents_ = places_ = 0;
    return {{"type", device_.reset() ? "reset" : "kept"}};
  }

  json capture(const json& body) {
    require_clock();
    const TimingPlan plan = plan_of(body.at("turn"), {.places = places_, .contents = contents_});
    return {{"type", "captured"},
            {"note", has_sequence_ ? device_.capture_sequence(plan)
                                   : device_.capture(decode_timed(body), plan)}};
  }

  json time(const json& body) {
    require_clock();
    const nvtx::Range range(body.value("range", std::string()));
    json reply = {{"type", "timed"}, {"turns", json::array()}};
    if (!range.failure().empty()) reply["range_failure"] = range.failure();
    const TimedLaunch launch = has_sequence_ ? TimedLaunch{} : decode_timed(body);
    const auto until =
        Clock::now() + std::chrono::nanoseconds(body.at("wall_ns").get<std::int64_t>());
    for (const auto& turn : body.at("turns")) {
      TimingPlan plan = plan_of(turn, {.places = places_, .contents = contents_});
      plan.wall = std::max<std::chrono::nanoseconds>(until - Clock::now(), kLeastWall);
      if (plan.fresh) device_.reload();
      const Timed timed = has_sequence_ ? device_.time_sequence(plan) : device_.time(launch, plan);
      reply["turns"].push_back(turn_frame(timed, plan));
      // Nobody knows what it left.
      if (timed.outcome.ending != emulator::Ending::completed || timed.samples_ns.empty()) break;
    }
    return reply;
  }

 private:
  void require_clock() const {
    if ((kernel_ == nullptr && !has_sequence_) || !device_.has_clock()) {
      throw std::runtime_error("time out of turn");
    }
  }

  std::vector<std::unique_ptr<Arena>> adopted(frames::Frame& request) {
    const json& body = request.body;
    std::vector<std::unique_ptr<Arena>> arenas;
    for (auto& descriptor : request.descriptors) {
      arenas.push_back(device_.adopt({.descriptor = std::move(descriptor),
                                      .size = body.at("arena_bytes"),
                                      .on_device = body.at("on_device")}));
    }
    return arenas;
  }

  static CounterRequest decode_counters(const json& body) {
    return {.library = body.at("library").get<std::string>(),
            .metrics = body.value("metrics", std::vector<std::string>()),
            .groups = body.at("groups").get<decltype(CounterRequest::groups)>()};
  }

  static emulator::Budget decode_budget(const json& budget) {
    return {.thread_instructions = budget.at("thread_instructions"),
            .wall = std::chrono::nanoseconds(budget.at("wall_ns").get<std::int64_t>()),
            .memory_bytes = budget.at("memory_bytes"),
            .threads = budget.at("threads")};
  }

  TimedLaunch decode_timed(const json& body) const {
    TimedLaunch launch{.launch = decode_launch(body, 0)};
    const json& arguments = body.at("arguments");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!has_address(arguments[i])) continue;
      launch.pointer_offsets.push_back(kernel_->parameters.at(i).offset_bytes);
    }
    return launch;
  }

  emulator::Launch decode_launch(const json& body, std::uint64_t arena_address) const {
    const auto packed = pack(*kernel_, decode_arguments(body.at("arguments"), arena_address));
    const auto* block = std::get_if<std::vector<std::byte>>(&packed);
    if (block == nullptr) throw std::runtime_error("run with arguments that load() refused");
    return {.kernel = kernel_->name,
            .grid = decode_dim(body.at("grid")),
            .block = decode_dim(body.at("block")),
            .dynamic_shared_bytes = body.at("shared_bytes"),
            .parameters = *block,
            .textures = decode_textures(body.at("arguments"), *kernel_),
            .cooperative = cooperative_,
            .to_the_barrier = body.value("to_the_barrier", false),
            .copies_at_once = body.value("copies_at_once", false)};
  }

  json describe_choice(const json& body) {
    json reply = {{"type", "loaded"}, {"kernels", json::array()}, {"misfits", json::array()}};
    for (const auto& kernel : kernels_) reply["kernels"].push_back(describe(kernel));
    kernel_ = choose_kernel(kernels_, body.at("kernel").get<std::string>());
    if (kernel_ == nullptr) return reply;
    reply["kernel"] = kernel_->name;
    reply["register_rows"] = kernel_->register_rows;
    if (!kernel_->unsupported_instruction.empty()) {
      reply["unsupported"] = {{"instruction", kernel_->unsupported_instruction},
                              {"ptx_line", kernel_->unsupported_ptx_line},
                              {"where", inspection::describe_place(kernel_->unsupported_where)}};
    }
    const auto packed = pack(*kernel_, decode_arguments(body.at("arguments"), 0));
    if (const auto* misfits = std::get_if<std::vector<Misfit>>(&packed)) {
      for (const auto& misfit : *misfits) {
        reply["misfits"].push_back({{"argument", misfit.argument}, {"message", misfit.message}});
      }
    }
    return reply;
  }

  // None where the host cannot see them: the device finds its memory by itself.
  static std::vector<emulator::Buffer> tensors(const json& arguments, const Arena& arena) {
    std::vector<emulator::Buffer> buffers;
    const auto seen = arena.bytes();
    if (seen.empty()) return buffers;
    for (const auto& item : arguments) {
      if (item.at("type") != "tensor") continue;
      const auto offset = item.at("offset").get<std::size_t>();
      const auto bytes = item.at("bytes").get<std::size_t>();
      if (offset > seen.size() || bytes > seen.size() - offset) {
        throw std::runtime_error("tensor outside the arena");
      }
      buffers.push_back({.address = arena.address() + offset,
                         .bytes = seen.subspan(offset, bytes),
                         .name = item.at("name").get<std::string>(),
                         .initialised = !item.value("uninitialised", false)});
    }
    return buffers;
  }

  Device& device_;
  std::vector<emulator::KernelInfo> kernels_{};
  const emulator::KernelInfo* kernel_ = nullptr;
  bool has_sequence_ = false;  // instead of a kernel
  bool cooperative_ = false;
  std::uint32_t contents_ = 0;  // staged
  std::uint32_t places_ = 0;    // that runs can work in
};

}  // namespace

int serve_kernel_on(Device& device, frames::Channel& channel) {
  Session session(device);
  while (auto request = channel.receive()) {
    frames::Frame reply;
    if (request->type() == "load") {
      reply.body = session.load(*request);
    } else if (request->type() == "load_sequence") {
      reply.body = session.load_sequence(*request);
    } else if (request->type() == "run") {
      reply.body = session.run(std::move(*request));
    } else if (request->type() == "stage") {
      reply.body = session.stage(std::move(*request));
    } else if (request->type() == "profile") {
      reply.body = session.profile(std::move(*request));
    } else if (request->type() == "ready_counters") {
      session.ready_counters(request->body);
      continue;
    } else if (request->type() == "capture") {
      reply.body = session.capture(request->body);
    } else if (request->type() == "reset") {
      reply.body = session.reset();
    } else if (request->type() == "time") {
      reply.body = session.time(request->body);
    } else {
      return 2;
    }
    channel.send(std::move(reply));
    if (device.has_clock()) stay_awake(channel);
  }
  return 0;
}

int serve_kernel(frames::Channel& channel) {
  return serve_kernel_on(*make_emulator_device(), channel);
}

int serve_gpu_kernel(frames::Channel& channel) {
  return serve_kernel_on(*make_gpu_device(), channel);
}

}  // namespace assay::runner
