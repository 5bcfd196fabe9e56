#include "engine/node/sanitizer_checks.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <variant>
#include <vector>

#include "engine/node/finding_claim.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Looking at every access makes a kernel some hundred times slower; starting takes a second.
constexpr std::chrono::seconds kToolLimit{60};

struct Tool {
  const char* check;
  const char* name;
};
constexpr Tool kTools[] = {{.check = "memory", .name = "memcheck"},
                           {.check = "races", .name = "racecheck"},
                           {.check = "initialised", .name = "initcheck"},
                           {.check = "barriers", .name = "synccheck"}};

// What a process wrote need not be text.
std::string readable(const std::string& bytes) {
  std::string text = bytes.substr(0, kMostFindingTextBytes);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return text;
}

// Why a launch cannot be made for it; "" if it can.
std::string obstacle(const SanitizerRun& run) {
  if (run.runners.can_sanitize()) return run.work.obstacle;
  return run.runners.toolkit().sanitizer.empty()
             ? "compute-sanitizer was not found (a CUDA toolkit has it, and the wheel "
               "nvidia-cuda-sanitizer-api)"
             : "compute-sanitizer starts processes of its own, which are kept in only where "
               "there are pid namespaces";
}

// Findings, or why there are none to tell.
using Seen = std::variant<json, std::string>;

// Any thread: beside those of the other tools. The arena is read only.
Seen look(const SanitizerRun& run, const LentArena& lent, const char* tool) {
  frames::Frame request;
  request.body = run.work.order;
  request.body["sanitizer"] = run.runners.toolkit().sanitizer.string();
  request.body["tool"] = tool;
  request.body["arena_bytes"] = lent.bytes;
  request.blob = run.work.programs;
  request.descriptors.push_back(lent.descriptor.duplicate());
  const auto process = run.runners.start_sanitizer({.nodes = run.gpu.nodes(), .uuid = run.gpu.uuid},
                                                   lent.bytes + run.work.programs.size());
  auto reply = process->ask(std::move(request), Clock::now() + kToolLimit, run.stop);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
    return "Its process ended (" + std::string(name(end->why)) + ") " + end->detail + end->output;
  }
  const json& body = std::get<frames::Frame>(reply).body;
  if (body.at("type") != "sanitized") return body.value("message", std::string("It said nothing."));
  json findings = json::array();
  for (const auto& item : body.at("findings")) {
    if (findings.size() == kMostFindings) break;
    findings.push_back(finding_claim(item, "compute-sanitizer"));
  }
  return findings;
}

struct Told {
  json tool = json::object();
  json findings = json::array();
};

Told use(const SanitizerRun& run, const LentArena& arena, const Tool& tool) {
  const auto begin = Clock::now();
  Seen seen;
  try {
    seen = look(run, arena, tool.name);
  } catch (const json::exception& error) {
    seen = std::string("Its process told what is no finding: ") + error.what();
  }
  Told told;
  told.tool = {{"tool", tool.name},
               {"check", tool.check},
               {"ran", std::holds_alternative<json>(seen)},
               {"ms", std::chrono::duration<double, std::milli>(Clock::now() - begin).count()}};
  if (const auto* why = std::get_if<std::string>(&seen)) {
    told.tool["reason"] = readable(*why);
  } else {
    told.findings = std::move(std::get<json>(seen));
    told.tool["findings"] = told.findings.size();
  }
  return told;
}

}  // namespace

SanitizedWork sanitized_kernel(const KernelTask& task, const Program& program,
                               const KernelSession& kernel, bool never_ended) {
  const auto& args = task.kernel.contract.args;
  const bool has_texture = std::any_of(args.begin(), args.end(),
                                       [](const auto& arg) { return arg.texture.has_value(); });
  if (never_ended) return {.obstacle = "The kernel did not end in its time"};
  if (program.cubin.empty()) return {.obstacle = "There is no machine code for it to look at"};
  if (has_texture) return {.obstacle = "It is not shown kernels that take textures"};
  SanitizedWork work{.order = kernel.sanitizer_order(), .programs = program.ptx + program.cubin};
  work.order["ptx_bytes"] = program.ptx.size();
  return work;
}

SanitizedWork sanitized_sequence(const LiftedSequence& sequence, const contract::Contract& contract,
                                 const std::vector<TensorPlace>& places,
                                 const std::vector<TensorPlace>& host) {
  SanitizedWork work{.order = sequence.body, .programs = sequence.blob};
  work.order["type"] = "sanitize";
  json& arguments = work.order["arguments"] = json::array();
  for (const TensorPlace& place : places) {
    const auto there = std::find_if(host.begin(), host.end(), [&](const TensorPlace& other) {
      return other.argument == place.argument;
    });
    if (there == host.end() || there->bytes != place.bytes) {
      return {.obstacle = "The tensor '" + place.name + "' lies nowhere on the host"};
    }
    const contract::Arg& arg = contract.args.at(place.argument);
    arguments.push_back(
        {{"name", place.name},
         {"type", "tensor"},
         {"offset", place.offset},
         {"bytes", place.bytes},
         {"from", there->offset},
         {"uninitialised", !arg.is_read() && !arg.tensor_spec->init && !arg.tensor_spec->data}});
  }
  json& scratch = work.order["scratch"] = json::array();
  for (std::size_t i = 0; i < sequence.scratch.size(); ++i) {
    scratch.push_back({sequence.scratch_begins[i], sequence.scratch[i]});
  }
  return work;
}

json run_sanitizer(const SanitizerRun& run) {
  if (std::string why = obstacle(run); !why.empty()) return {{"reason", why + run.otherwise}};
  if (const auto* ended = std::get_if<Ended>(&run.arena)) return {{"reason", ended->summary}};
  const auto& lent = std::get<LentArena>(run.arena);
  // At once: most of what each takes is the start of two processes and a context.
  std::vector<std::future<Told>> looking;
  for (const Tool& tool : kTools) {
    if (!is_among(run.checks, tool.check)) continue;
    looking.push_back(std::async(std::launch::async | std::launch::deferred,
                                 [&run, &lent, &tool] { return use(run, lent, tool); }));
  }
  json out = {{"tools", json::array()}, {"findings", json::array()}};
  for (auto& one : looking) {
    Told told = one.get();
    out["tools"].push_back(std::move(told.tool));
    for (auto& finding : told.findings) out["findings"].push_back(std::move(finding));
  }
  return out;
}

namespace {

// The emulator says of a launch that ended there only that the access was none.
bool is_same(const json& emulated, const json& finding) {
  const std::string kind = finding.at("kind");
  const bool alike =
      emulated.at("kind") == kind || (emulated.at("kind") == "invalid_access" &&
                                      (kind == "out_of_bounds" || kind == "misaligned"));
  return alike && emulated.at("where").at("line") == finding.at("where").at("line");
}

}  // namespace

void add_sanitized(json& checks, json sanitized) {
  json& findings = checks["findings"];
  const json found = sanitized.value("findings", json::array());
  sanitized.erase("findings");
  for (const auto& finding : found) {
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const json& other) { return is_same(other, finding); });
    if (same == findings.end()) {
      findings.push_back(finding);
    } else {
      (*same)["also_by"] = finding.at("by");
    }
  }
  const json tools = sanitized.value("tools", json::array());
  const bool ran =
      std::any_of(tools.begin(), tools.end(), [](const json& tool) { return tool.at("ran"); });
  // Where the emulator could not look, it is what was looked at.
  if (ran && !checks.value("ran", false)) {
    checks["ran"] = true;
    checks["on"] = "gpu";
  }
  checks["sanitizer"] = std::move(sanitized);
}

}  // namespace assay::node
