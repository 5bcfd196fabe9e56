#include "engine/node/kernel_session.h"

#include <algorithm>

#include "engine/node/element_types.h"
#include "engine/node/passed_argument.h"
#include "engine/node/passed_texture.h"

namespace assay::node {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::chrono::seconds kLoadLimit{30};
// The runner ends counting by itself, too; between two passes it may be busy with the counters.
constexpr std::chrono::seconds kProfileGrace{5};
// The runner ends a launch by itself when its budget is spent; the engine's own deadline is the net
// under that.
constexpr std::chrono::milliseconds kRunGrace{500};
constexpr std::size_t kRunMemoryBytes = 4ULL << 30;

json turn_frame(const TurnOrder& order) {
  json runs = json::array();
  for (const RunOrder& run : order.runs) {
    runs.push_back(json::array({run.place, run.content, run.keep, run.as_left}));
  }
  return {{"view", order.view},
          {"warmups", order.warmups},
          {"fresh_module", order.fresh_module},
          {"tell_state", order.tell_state},
          {"tell_neighbours", order.tell_neighbours},
          {"ramp_below_mhz", order.ramp_below_mhz},
          {"precise", order.precise},
          {"renews_each", order.renews_each},
          {"typical_ns", order.typical_ns},
          {"digests", order.digests},
          {"runs", std::move(runs)}};
}

json dim(const std::optional<contract::LaunchDim>& dim, std::uint32_t default_x) {
  if (!dim) return json::array({default_x, 1, 1});
  return json::array({dim->x, dim->y, dim->z});
}

}  // namespace

KernelSession::KernelSession(std::unique_ptr<RunnerProcess> process, RunnerRole role,
                             std::string pointer, std::stop_token stop)
    : process_(std::move(process)),
      role_(role),
      passed_{.kernel = std::move(pointer)},
      stop_(std::move(stop)) {}

std::optional<Ended> KernelSession::bind(const contract::Contract& called,
                                         const contract::Contract& judged,
                                         const std::vector<TensorPlace>& places) {
  launch_ = called.launch.value_or(contract::LaunchConfig{});
  for (std::size_t i = 0; i < called.args.size(); ++i) {
    const auto& arg = called.args[i];
    if (arg.is_meta) continue;
    passed_.in_contract.push_back(i);
    if (!arg.is_tensor()) {
      arguments_.push_back(passed_scalar(arg));
      continue;
    }
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&](const auto& one) { return one.name == arg.name; });
    if (place == places.end()) {
      return misfit("the kernel under test has no tensor named '" + arg.name + "'",
                    passed_.pointer_to(i));
    }
    const auto& wanted = *judged.args[place->argument].tensor_spec;
    if (wanted.shape != arg.tensor_spec->shape || wanted.dtype != arg.tensor_spec->dtype ||
        wanted.strides != arg.tensor_spec->strides) {
      return misfit("tensor '" + arg.name +
                        "' has another shape, dtype or strides than that of the kernel "
                        "under test: both are given the same memory",
                    passed_.pointer_to(i));
    }
    arguments_.push_back(
        {{"name", arg.name},
         {"type", "tensor"},
         {"offset", place->offset},
         {"bytes", place->bytes},
         {"uninitialised", !arg.is_read() && !arg.tensor_spec->init && !arg.tensor_spec->data}});
    if (arg.texture) arguments_.back()["texture"] = passed_texture(arg);
  }
  return std::nullopt;
}

std::variant<json, Ended> KernelSession::ask(frames::Frame request, nanoseconds limit) {
  take_staged();
  auto reply = process_->ask(std::move(request), std::chrono::steady_clock::now() + limit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  return std::move(std::get<frames::Frame>(reply).body);
}

std::variant<json, Ended> KernelSession::ask_launch(frames::Frame request,
                                                    nanoseconds& execution_left) {
  take_staged();  // that is no execution
  const auto start = std::chrono::steady_clock::now();
  auto reply = ask(std::move(request), execution_left + kRunGrace);
  execution_left -= std::chrono::steady_clock::now() - start;
  return reply;
}

template <typename Decode>
auto KernelSession::decoded(std::variant<json, Ended> reply, Decode&& decode) const
    -> decltype(decode(json())) {
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(role_, [&] { return decode(std::get<json>(reply)); });
}

void KernelSession::note_range(const json& body) {
  range_failure_ = body.value("range_failure", range_failure_);
}

std::variant<Loaded, Ended> KernelSession::load(const KernelSource& source, const Program& program,
                                                const contract::Contract& judged,
                                                const std::vector<TensorPlace>& places) {
  if (auto ended = bind(program.contract_of(source), judged, places)) return *ended;
  std::string wanted = !program.entry.empty() ? program.entry : source.kernel_name;
  if (wanted.empty()) wanted = first_global(source.source);
  wanted_ = wanted;
  frames::Frame request;
  request.body = {{"type", "load"},
                  {"kernel", wanted},
                  {"arguments", arguments_},
                  {"ptx_bytes", program.ptx.size()}};
  request.blob = program.ptx;
  if (role_ == RunnerRole::gpu_kernel) request.blob += program.cubin;
  untouched_ = false;
  auto loaded = decoded(ask(std::move(request), kLoadLimit), [&](const json& body) {
    return loaded_claim(body, role_, wanted, passed_);
  });
  if (const auto* good = std::get_if<Loaded>(&loaded)) {
    const auto mistakes = mistaken_kinds(source.contract, good->display_name, source.source);
    if (!mistakes.empty()) {
      return misfit(mistakes[0].message, passed_.pointer_to(mistakes[0].argument));
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
  return decoded(ask(std::move(request), kLoadLimit), sequence_claim);
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
  return ask_launch(std::move(request), execution_left);
}

std::variant<Ran, Ended> KernelSession::run(LentArena arena, nanoseconds& execution_left,
                                            bool to_the_barrier) {
  const json extra = {{"to_the_barrier", to_the_barrier}, {"copies_at_once", runs_++ % 2 == 1}};
  return decoded(ask_run(extra, std::move(arena), execution_left), [&](const json& body) {
    note_range(body);
    return ran_claim(body);
  });
}

std::variant<Inspected, Ended> KernelSession::inspect(const InspectionOrder& order, LentArena arena,
                                                      nanoseconds& execution_left) {
  return decoded(ask_run({{"inspect", order.what}, {"checked_blocks", order.checked_blocks}},
                         std::move(arena), execution_left),
                 inspected_claim);
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

json KernelSession::sanitizer_order() const {
  json order = launch_frame("sanitize");
  order["kernel"] = wanted_;
  return order;
}

std::variant<std::uint32_t, Ended> KernelSession::stage(const std::vector<LentArena>& arenas,
                                                        std::uint32_t places,
                                                        std::uint64_t scratch_bytes) {
  begin_stage(arenas, places, scratch_bytes);
  return staged();
}

void KernelSession::begin_stage(const std::vector<LentArena>& arenas, std::uint32_t places,
                                std::uint64_t scratch_bytes) {
  frames::Frame request;
  request.body = {{"type", "stage"},
                  {"arena_bytes", arenas.front().bytes},
                  {"on_device", arenas.front().on_device},
                  {"places", places},
                  {"scratch_bytes", scratch_bytes}};
  for (const LentArena& arena : arenas) {
    request.descriptors.push_back(arena.descriptor.duplicate());
  }
  process_->post(std::move(request));
  is_staging_ = true;
}

std::variant<std::uint32_t, Ended> KernelSession::staged() {
  take_staged();
  return staged_;
}

// It is answered before what is asked after it.
void KernelSession::take_staged() {
  if (!std::exchange(is_staging_, false)) return;
  auto reply = process_->await(std::chrono::steady_clock::now() + kLoadLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
    staged_ = blame(*end, role_);
    return;
  }
  staged_ = decode_claim(role_, [&] { return staged_claim(std::get<frames::Frame>(reply).body); });
}

void KernelSession::begin_capture(const TurnOrder& order) {
  frames::Frame request;
  request.body = launch_frame("capture");
  request.body["turn"] = turn_frame(order);
  process_->post(std::move(request));
}

std::variant<std::string, Ended> KernelSession::captured() {
  auto reply = process_->await(std::chrono::steady_clock::now() + kLoadLimit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, role_);
  return decode_claim(role_, [&] { return captured_claim(std::get<frames::Frame>(reply).body); });
}

Turns KernelSession::time(const std::vector<TurnOrder>& orders, nanoseconds& execution_left) {
  frames::Frame request;
  request.body = launch_frame("time");
  request.body["wall_ns"] = std::max<std::int64_t>(execution_left.count(), 1);
  request.body["turns"] = json::array();
  for (const TurnOrder& order : orders) request.body["turns"].push_back(turn_frame(order));
  std::vector<OrderedTurn> ordered;
  for (const TurnOrder& order : orders) {
    ordered.push_back({order.runs.size(), std::string_view(order.view) == "graph"});
  }
  const auto begin = std::chrono::steady_clock::now();
  auto reply = ask_launch(std::move(request), execution_left);
  const auto asked = std::chrono::steady_clock::now() - begin;
  auto told = decoded(std::move(reply), [&](const json& body) {
    note_range(body);
    return turns_claim(body, ordered);
  });
  if (auto* ended = std::get_if<Ended>(&told)) return {.ended = std::move(*ended), .asked = asked};
  auto& turns = std::get<Turns>(told);
  turns.asked = asked;
  return std::move(turns);
}

std::variant<Counted, Ended> KernelSession::profile(LentArena arena, const CounterOrder& order) {
  frames::Frame request;
  request.body = launch_frame("profile");
  request.body["arena_bytes"] = arena.bytes;
  request.body["on_device"] = arena.on_device;
  request.body["library"] = order.library;
  request.body["metrics"] = order.metrics;
  request.body["groups"] = order.groups;
  request.body["limit_ns"] = order.limit.count();
  request.descriptors.push_back(std::move(arena.descriptor));
  return decoded(ask(std::move(request), order.limit + kProfileGrace), counted_claim);
}

}  // namespace assay::node
