#include "engine/node/kernel_claim.h"

#include <algorithm>

#include "engine/node/claimed_report.h"
#include "engine/node/claimed_value.h"
#include "engine/source/nearest_name.h"

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
// Of what a list or an object of an answer may have.
constexpr std::size_t kMostMetrics = 4096;
constexpr std::size_t kMostLaunches = 4096;
constexpr std::size_t kMostNotes = 4096;
constexpr std::uint32_t kMostPlaces = 1U << 20;
constexpr double kMostMs = 1e9;

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

// A program whose variables the device has no room for is no program that it cannot read.
bool is_out_of_memory(const std::string& message) {
  return message.starts_with("CUDA_ERROR_OUT_OF_MEMORY");
}

Ended has_no_room(const std::string& message) {
  return {.verdict = Verdict::out_of_memory,
          .summary = "The GPU has not the memory that this program takes when it is loaded (" +
                     message + "). Make its variables smaller."};
}

Ended unloadable(const json& body, RunnerRole role) {
  const auto message = body.at("message").get<std::string>();
  if (role == RunnerRole::gpu_kernel && is_out_of_memory(message)) return has_no_room(message);
  const std::string what = role == RunnerRole::gpu_kernel
                               ? "The GPU cannot load this program: "
                               : "The emulator cannot read this program (PTX line " +
                                     std::to_string(body.at("ptx_line").get<int>()) + ")" +
                                     at_line(body) + ": ";
  return {.verdict = Verdict::unsupported, .summary = what + message, .detail = body};
}

Ended no_such_kernel(const json& kernels, const std::string& wanted) {
  const json told = told_kernels(kernels);
  std::string names;
  std::vector<std::string> base_names;
  for (const auto& kernel : told) {
    // Overloads share a name: their parameters tell them apart.
    const json& base = kernel.at("base_name");
    base_names.push_back(base.get<std::string>());
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
                         : "Kernel '" + wanted + "' not found. Available: [" + names + "]" +
                               source::nearest_name(wanted, base_names),
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
    const auto bytes = claimed_count(kernel.at("static_shared_bytes"));
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
    const auto index = claimed_count(one.at("argument"));
    const std::string pointer = index < passed.in_contract.size()
                                    ? passed.pointer_to(passed.in_contract[index])
                                    : passed.kernel + "/io/args";
    violations.push_back(
        {{"pointer", pointer}, {"message", claimed_text(one.at("message"), kToldOutputBytes)}});
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
  const json fault = told_fault(body);
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

RecordedLaunches recorded_claim(const json& body) {
  RecordedLaunches recorded{.missing = body.at("missing")};
  for (const auto& record : body.at("records")) {
    const double ns = claimed_ns(record.at("ns"));
    if (!(ns > 0) || recorded.ns.size() == kMostRecords) continue;
    recorded.ns.push_back(ns);
    for (const char* key : {"registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes",
                            "local_bytes_per_thread", "shared_carveout_bytes"}) {
      recorded.facts[key] = claimed_count(record.at(key));
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
                .register_rows = claimed_small_count(body.value("register_rows", json(0U))),
                .kernels = told_kernels(body.at("kernels"))};
  for (const auto& kernel : body.at("kernels")) {
    if (kernel.at("name") != loaded.entry) continue;
    loaded.display_name = kernel.at("display_name");
    loaded.max_threads = claimed_small_count(kernel.value("max_threads", json(0U)));
  }
  return loaded;
}

std::variant<bool, Ended> sequence_claim(const json& body) {
  if (type_of(body) == "loaded_sequence") return body.value("has_variables", true);
  if (type_of(body) != "unloadable") return out_of_turn();
  const std::string message = body.value("message", std::string());
  if (is_out_of_memory(message)) return has_no_room(message);
  return Ended{.verdict = Verdict::unsupported,
               .summary = "The device does not take it: " + message};
}

std::variant<Ran, Ended> ran_claim(const json& body) {
  if (type_of(body) != "ran") return out_of_turn();
  if (body.at("ending") != "completed") return launch_end(body);
  return Ran{.elapsed = nanoseconds(claimed_count(body.at("elapsed_ns"))),
             .counters = told_counters(body.at("counters")),
             .printf_output = body.at("printf").get<std::string>(),
             .printf_truncated = body.at("printf_truncated").get<bool>(),
             .strays = told_strays(body)};
}

std::variant<Inspected, Ended> inspected_claim(const json& body) {
  if (type_of(body) != "ran") return out_of_turn();
  Inspected said{.ending = body.at("ending").get<std::string>(),
                 .message = body.at("message").get<std::string>(),
                 .findings = told_findings(body.at("findings")),
                 .checked_blocks = claimed_count(body.at("checked_blocks")),
                 .blocks = claimed_count(body.at("blocks"))};
  for (const json& note : claimed_list(body.at("notes"), kMostNotes)) {
    said.notes.push_back(claimed_text(note, kToldOutputBytes));
  }
  if (body.contains("profile")) said.profile = told_profile(body.at("profile"));
  return said;
}

std::variant<std::string, Ended> captured_claim(const json& body) {
  if (type_of(body) != "captured") return out_of_turn();
  return claimed_text(body.at("note"), kToldNoteBytes);
}

std::variant<std::uint32_t, Ended> staged_claim(const json& body) {
  if (type_of(body) == "staged") {
    const auto made =
        static_cast<std::uint32_t>(claimed_count(body.value("places", json(0U)), kMostPlaces));
    if (made == 0) return our_fault("The kernel runner staged nothing.");
    return made;
  }
  if (type_of(body) != "unstaged") return out_of_turn();
  return Ended{.verdict = Verdict::out_of_memory,
               .summary = "The device has not the memory that timing needs (" +
                          body.value("message", std::string()) + "). Use smaller shapes."};
}

std::variant<Turns, Ended> turns_claim(const json& body, const std::vector<OrderedTurn>& ordered) {
  if (type_of(body) != "timed") return out_of_turn();
  Turns turns;
  bool gave_up = false;
  for (const json& told : body.at("turns")) {
    if (turns.ended || gave_up || turns.taken.size() == ordered.size()) return out_of_turn();
    if (told.at("ending") != "completed") {
      turns.ended = launch_end(told);
      continue;
    }
    turns.taken.push_back(turn_claim(told, ordered[turns.taken.size()]));
    gave_up = turns.taken.back().samples_ns.empty();
  }
  if (turns.taken.size() < ordered.size() && !turns.ended && !gave_up) return out_of_turn();
  return turns;
}

std::variant<Counted, Ended> counted_claim(const json& body) {
  if (type_of(body) != "profiled") return out_of_turn();
  if (body.at("ending") != "completed") return launch_end(body);
  Counted counted{.passes = claimed_count(body.at("passes")),
                  .missing = claimed_text(body.at("missing"), kToldOutputBytes),
                  .recorded = recorded_claim(body.at("activity")),
                  .setup_ms = claimed_number(body.at("setup_ms"), 0, kMostMs),
                  .counting_ms = claimed_number(body.at("counting_ms"), 0, kMostMs)};
  for (const json& metric : claimed_list(body.at("refused"), kMostMetrics)) {
    counted.refused.push_back(claimed_text(metric, kToldNameBytes));
  }
  for (const auto& [group, passes] :
       claimed_object(body.at("group_passes"), kMostMetrics).items()) {
    counted.group_passes[group] = claimed_count(passes);
  }
  for (const auto& [metric, value] : claimed_object(body.at("values"), kMostMetrics).items()) {
    if (value.is_number()) {
      counted.values[metric] = value.get<double>();
    } else {
      counted.without_value.push_back(metric);
    }
  }
  if (const auto launch = body.find("launch"); launch != body.end()) {
    counted.launch = {.index = claimed_count(launch->at("index")),
                      .registers = claimed_small_count(launch->at("registers")),
                      .static_shared_bytes = claimed_count(launch->at("static_shared_bytes"))};
    for (const json& ns : claimed_list(launch->at("launches_ns"), kMostLaunches)) {
      counted.launch->launches_ns.push_back(claimed_ns(ns));
    }
  }
  return counted;
}

}  // namespace assay::node
