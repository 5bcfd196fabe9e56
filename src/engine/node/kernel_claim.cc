#include "engine/node/kernel_claim.h"

#include <algorithm>

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using std::chrono::nanoseconds;

// Of what a kernel printed, in an answer; and how many kernels it names.
constexpr std::size_t kToldOutputBytes = 2000;
constexpr std::size_t kToldKernels = 50;
constexpr std::size_t kToldNameBytes = 200;
constexpr std::size_t kMostRecords = 100;  // of launches that were recorded

// What ptxas takes for sm_90, of static shared memory as of both kinds together.
constexpr std::uint64_t kMostSharedBytes = 227U << 10;

std::string type_of(const json& body) { return body.value("type", std::string()); }

Ended out_of_turn() { return our_fault("The kernel runner answered out of turn."); }

Verdict verdict_of(const std::string& ending) {
  if (ending == "faulted") return Verdict::crashed;
  if (ending == "budget_instructions" || ending == "budget_wall") return Verdict::timed_out;
  if (ending == "out_of_memory") return Verdict::out_of_memory;
  if (ending == "unsupported") return Verdict::unsupported;
  if (ending == "invalid_launch") return Verdict::launch_failed;
  if (ending == "stopped") return Verdict::cancelled;
  return Verdict::engine_fault;
}

// A device would wait for ever where the emulator sees that nothing can go on.
bool is_endless_wait(const json& fault) {
  const auto kind = fault.value("kind", std::string());
  return kind == "barrier_divergence" || kind == "deadlock";
}

std::string at_line(const json& fault) {
  const json& where = fault.at("where");
  if (where.at("line").get<int>() == 0) return {};
  return " at " + where.at("file").get<std::string>() + ":" +
         std::to_string(where.at("line").get<int>());
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

// Of a load out of bounds what the report speaks of; the rest as it was said.
json told_stray(const json& said) {
  json told = said;
  for (const char* key : {"kind", "severity", "message"})
    told[key] = said.at(key).get<std::string>();
  told["memory"] = said.value("memory", std::string());
  told["where"] = {{"file", said.at("where").at("file").get<std::string>()},
                   {"line", said.at("where").at("line").get<int>()},
                   {"column", said.at("where").at("column").get<int>()}};
  return told;
}

json told_strays(const json& body) {
  json told = json::array();
  for (const auto& said : body.value("findings", json::array())) {
    if (told.size() < kToldKernels) told.push_back(told_stray(said));
  }
  return told;
}

Ended unloadable(const json& body, RunnerRole role) {
  const std::string what = role == RunnerRole::gpu_kernel
                               ? "The GPU cannot load this program: "
                               : "The emulator cannot read this program (PTX line " +
                                     std::to_string(body.at("ptx_line").get<int>()) + ")" +
                                     at_line(body) + ": ";
  return {.verdict = Verdict::unsupported,
          .summary = what + body.at("message").get<std::string>(),
          .detail = body};
}

Ended no_such_kernel(const json& kernels, const std::string& wanted) {
  const json told = told_kernels(kernels);
  std::string names;
  for (const auto& kernel : told) {
    // Overloads share a name: their parameters tell them apart.
    const json& base = kernel.at("base_name");
    const auto same = std::count_if(
        told.begin(), told.end(), [&](const json& other) { return other.at("base_name") == base; });
    const char* key = same > 1 && kernel.contains("display_name") ? "display_name" : "base_name";
    names += (names.empty() ? "" : ", ") + kernel.at(key).get<std::string>();
  }
  if (told.size() < kernels.size()) names += ", …";
  return {.verdict = Verdict::contract_invalid,
          .summary = names.empty()
                         ? "No kernels found in source: it needs a `__global__` function; "
                           "of a template, name an instance in metadata.name_expressions"
                         : "Kernel '" + wanted + "' not found. Available: [" + names + "]",
          .detail = {{"available", told}}};
}

Ended not_executed(const json& gap) {
  return {.verdict = Verdict::unsupported,
          .summary = "The emulator does not execute `" + gap.at("instruction").get<std::string>() +
                     "`" + at_line(gap) + "; this kernel needs a GPU.",
          .detail = gap};
}

// Where nothing is assembled nobody else says so.
std::optional<Ended> beyond_assembling(const json& body) {
  for (const auto& kernel : body.at("kernels")) {
    const auto bytes = kernel.at("static_shared_bytes").get<std::uint64_t>();
    if (kernel.at("name") != body.at("kernel") || bytes <= kMostSharedBytes) continue;
    return Ended{.verdict = Verdict::compile_failed,
                 .summary = "The kernel does not compile: '" +
                            kernel.at("base_name").get<std::string>() + "' has " +
                            std::to_string(bytes) + " bytes of static shared memory; " +
                            std::to_string(kMostSharedBytes) + " are the most that is assembled."};
  }
  return std::nullopt;
}

// `misfits`: not empty.
Ended all_misfits(const json& misfits, const PassedArguments& passed) {
  json violations = json::array();
  for (const auto& one : misfits) {
    const auto index = one.at("argument").get<std::size_t>();
    const std::string pointer = index < passed.in_contract.size()
                                    ? passed.pointer_to(passed.in_contract[index])
                                    : passed.kernel + "/io/args";
    violations.push_back({{"pointer", pointer}, {"message", one.at("message")}});
  }
  Ended ended = misfit(violations[0]["message"], violations[0]["pointer"]);
  ended.detail["violations"] = std::move(violations);
  return ended;
}

// Where blocks ended and none took much longer there are too many of them; else it is one that goes
// round, or much to do.
std::string too_long(const json& body, const json& fault) {
  const json grid = body.value("grid", json::object());
  const auto total = grid.value("blocks", std::uint64_t{1});
  const std::string ended = std::to_string(grid.value("ended", std::uint64_t{0})) + " of " +
                            std::to_string(total) + " blocks had ended";
  if (grid.value("was_progressing", false)) {
    return ": " + ended + ". Make the grid smaller, or give it more time.";
  }
  const auto times = grid.value("times_as_long", std::uint64_t{0});
  std::string text = at_line(fault);
  if (times > 0) {
    text += ": " + ended + ", and block " + fault.at("block").dump() + " had run " +
            std::to_string(times) + " times as long as those";
  } else if (total > 1) {
    text += ": " + ended;
  }
  const std::string message = fault.value("message", std::string());
  return text + ". Look for a loop whose condition never changes" +
         (message.empty() ? "; if there is none, give it less to do, or more time."
                          : ": " + message);
}

// Of a launch that did not complete.
Ended launch_end(const json& body) {
  const auto how = body.at("ending").get<std::string>();
  const json fault = body.value("fault", json::object());
  const bool waits = how == "faulted" && is_endless_wait(fault);
  Ended ended{.verdict = waits ? Verdict::timed_out : verdict_of(how)};
  const std::string message = body.value("message", std::string());
  const std::string fault_message = fault.value("message", std::string());
  switch (ended.verdict) {
    case Verdict::crashed:
      ended.summary = "The kernel crashed" + at_line(fault) + ": " + fault_message;
      break;
    case Verdict::timed_out:
      if (waits) {
        ended.summary = "The kernel never ends" + at_line(fault) + ": " + fault_message;
        break;
      }
      ended.summary = "The kernel did not end within its time" + too_long(body, fault);
      break;
    case Verdict::engine_fault:
      return our_fault("A launch ended in a way that is not known (" + how + ").");
    default:
      ended.summary = "The kernel could not run to its end (" + how + ")" + ": " +
                      (message.empty() ? fault_message : message);
      break;
  }
  ended.detail = {{"ending", how}, {"fault", fault}};
  const auto printed = body.at("printf").get<std::string>();
  if (!printed.empty()) {
    ended.detail["printf"] = printed.substr(0, kToldOutputBytes);
    ended.detail["printf_truncated"] = printed.size() > kToldOutputBytes;
  }
  return ended;
}

std::optional<WallClaim> wall_claim(const json& told) {
  const auto found = told.find("wall");
  if (found == told.end()) return std::nullopt;
  WallClaim wall{.launches = found->at("launches"),
                 .wall_ns = found->at("wall_ns"),
                 .events_ns = found->at("events_ns")};
  if (found->contains("hidden_ns")) wall.hidden_ns = found->at("hidden_ns").get<double>();
  return wall;
}

RecordedLaunches recorded_claim(const json& body) {
  RecordedLaunches recorded{.missing = body.at("missing")};
  for (const auto& record : body.at("records")) {
    const double ns = record.at("ns");
    if (!(ns > 0) || recorded.ns.size() == kMostRecords) continue;
    recorded.ns.push_back(ns);
    for (const char* key : {"registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes",
                            "local_bytes_per_thread", "shared_carveout_bytes"}) {
      recorded.facts[key] = record.at(key).get<std::uint64_t>();
    }
    const auto preference = record.at("cache_preference").get<std::string>();
    for (const char* known : {"none", "shared", "l1", "equal"}) {
      if (preference == known) recorded.facts["cache_preference"] = known;
    }
  }
  return recorded;
}

}  // namespace

std::string PassedArguments::pointer_to(std::size_t contract_argument) const {
  return kernel + "/io/args/" + std::to_string(contract_argument);
}

Ended misfit(std::string message, const std::string& pointer) {
  Ended ended{.verdict = Verdict::contract_invalid,
              .summary = "The contract does not fit the kernel: " + message + " (" + pointer + ")"};
  ended.detail["violations"] =
      json::array({{{"pointer", pointer}, {"message", std::move(message)}}});
  return ended;
}

std::variant<Loaded, Ended> loaded_claim(const json& body, RunnerRole role,
                                         const std::string& wanted, const PassedArguments& passed) {
  if (type_of(body) == "unloadable") return unloadable(body, role);
  if (type_of(body) != "loaded") return out_of_turn();
  if (!body.contains("kernel")) return no_such_kernel(body.at("kernels"), wanted);
  if (body.contains("unsupported")) return not_executed(body.at("unsupported"));
  if (auto ended = beyond_assembling(body)) return *std::move(ended);
  if (!body.at("misfits").empty()) return all_misfits(body.at("misfits"), passed);
  Loaded loaded{.entry = body.at("kernel").get<std::string>(),
                .register_rows = body.value("register_rows", 0U),
                .kernels = told_kernels(body.at("kernels"))};
  for (const auto& kernel : body.at("kernels")) {
    if (kernel.at("name") != loaded.entry) continue;
    loaded.display_name = kernel.at("display_name");
    loaded.max_threads = kernel.value("max_threads", 0U);
  }
  return loaded;
}

std::variant<bool, Ended> sequence_claim(const json& body) {
  if (type_of(body) == "loaded_sequence") return body.value("has_variables", true);
  if (type_of(body) != "unloadable") return out_of_turn();
  return Ended{.verdict = Verdict::unsupported,
               .summary = "The device does not take it: " + body.value("message", std::string())};
}

std::variant<Ran, Ended> ran_claim(const json& body) {
  if (type_of(body) != "ran") return out_of_turn();
  if (body.at("ending") != "completed") return launch_end(body);
  return Ran{.elapsed = nanoseconds(body.at("elapsed_ns").get<std::int64_t>()),
             .counters = body.at("counters"),
             .printf_output = body.at("printf").get<std::string>(),
             .printf_truncated = body.at("printf_truncated").get<bool>(),
             .strays = told_strays(body)};
}

std::variant<Inspected, Ended> inspected_claim(const json& body) {
  if (type_of(body) != "ran") return out_of_turn();
  Inspected said{.ending = body.at("ending").get<std::string>(),
                 .message = body.at("message").get<std::string>(),
                 .findings = body.at("findings"),
                 .notes = body.at("notes"),
                 .checked_blocks = body.at("checked_blocks"),
                 .blocks = body.at("blocks")};
  if (body.contains("profile")) said.profile = body.at("profile");
  return said;
}

std::variant<std::uint32_t, Ended> staged_claim(const json& body) {
  if (type_of(body) == "staged") {
    const auto made = body.value("places", 0U);
    if (made == 0) return our_fault("The kernel runner staged nothing.");
    return made;
  }
  if (type_of(body) != "unstaged") return out_of_turn();
  return Ended{.verdict = Verdict::out_of_memory,
               .summary = "The device has not the memory that timing needs (" +
                          body.value("message", std::string()) + "). Use smaller shapes."};
}

std::variant<Turns, Ended> turns_claim(const json& body, std::size_t ordered) {
  if (type_of(body) != "timed") return out_of_turn();
  Turns turns;
  for (const json& told : body.at("turns")) {
    if (turns.ended || turns.taken.size() == ordered) return out_of_turn();
    if (told.at("ending") != "completed") {
      turns.ended = launch_end(told);
      continue;
    }
    Turn& turn = turns.taken.emplace_back();
    turn.samples_ns = told.at("samples_ns").get<std::vector<double>>();
    turn.launches = told.at("launches");
    turn.event_overhead_ns = told.at("event_overhead_ns");
    turn.state = told.value("state", json(nullptr));
    turn.note = told.at("note");
    if (told.at("clock_mhz").is_number()) turn.clock_mhz = told.at("clock_mhz").get<double>();
    turn.wall = wall_claim(told);
    if (const auto ramp = told.find("ramp"); ramp != told.end()) {
      turn.ramped_from_mhz = ramp->at("from_mhz").get<double>();
      turn.ramped_ms = ramp->at("ms").get<double>();
    }
  }
  const bool gave_up = !turns.taken.empty() && turns.taken.back().samples_ns.empty();
  if (turns.taken.size() < ordered && !turns.ended && !gave_up) return out_of_turn();
  return turns;
}

std::variant<Counted, Ended> counted_claim(const json& body) {
  if (type_of(body) != "profiled") return out_of_turn();
  if (body.at("ending") != "completed") return launch_end(body);
  Counted counted{.refused = body.at("refused").get<std::vector<std::string>>(),
                  .passes = body.at("passes"),
                  .missing = body.at("missing"),
                  .group_passes = body.at("group_passes"),
                  .recorded = recorded_claim(body.at("activity")),
                  .setup_ms = body.at("setup_ms"),
                  .counting_ms = body.at("counting_ms")};
  for (const auto& [metric, value] : body.at("values").items()) {
    if (value.is_number()) {
      counted.values[metric] = value.get<double>();
    } else {
      counted.without_value.push_back(metric);
    }
  }
  if (const auto launch = body.find("launch"); launch != body.end()) {
    counted.launch = {.index = launch->at("index"),
                      .registers = launch->at("registers"),
                      .static_shared_bytes = launch->at("static_shared_bytes"),
                      .launches_ns = launch->at("launches_ns").get<std::vector<double>>()};
  }
  return counted;
}

}  // namespace assay::node
