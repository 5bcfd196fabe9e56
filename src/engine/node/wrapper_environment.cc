#include "engine/node/wrapper_environment.h"

#include <optional>

#include "engine/confinement/sha256.h"
#include "engine/node/python_start.h"
#include "engine/node/wrapper_headers.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDescribeLimit{60};
// 36 s on two cores that others used as well.
constexpr std::chrono::seconds kPrecompileLimit{300};
constexpr const char* kMade = "wrapper.h.gch";
// What could not be made (a full disk) is tried again.
constexpr std::chrono::minutes kTryAgain{10};

json include_folders(const Toolkit& toolkit) {
  json folders = json::array();
  for (const auto& folder : toolkit.include_folders) folders.push_back(folder.string());
  return folders;
}

// What a folder is named by: the library headers as their versions say, ours and the toolkit's as
// they are.
std::string key_of(const json& said, const Toolkit& toolkit, bool on_gpu) {
  return confinement::sha256(said.dump() + wrapper_headers().dump() +
                             include_folders(toolkit).dump() + toolkit.nvrtc.string() +
                             (on_gpu ? "gpu" : "cpu"));
}

}  // namespace

WrapperEnvironment::WrapperEnvironment(const fs::path& folder)
    : keeps_(!folder.empty()), store_(folder, kMade) {}

std::variant<frames::Frame, Ended> ask_host_compiler(const Runners& runners, PythonZygote& zygote,
                                                     json body, const fs::path& readable,
                                                     const fs::path& writable,
                                                     std::chrono::seconds limit,
                                                     const std::stop_token& stop) {
  auto process = start_host_compiler(runners, zygote, readable, writable, stop);
  if (auto* ended = std::get_if<Ended>(&process)) return std::move(*ended);
  frames::Frame request;
  request.body = std::move(body);
  request.body["seq"] = 1;
  request.body["include"] = include_folders(runners.toolkit());
  auto reply = std::get<std::unique_ptr<RunnerProcess>>(process)->ask(std::move(request),
                                                                      Clock::now() + limit, stop);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, RunnerRole::compile);
  auto& frame = std::get<frames::Frame>(reply);
  if (frame.type() == "failed") {
    return our_fault("The C++ compiler's process failed: " +
                     frame.body.value("message", std::string("?")));
  }
  return std::move(frame);
}

std::variant<WrapperEnvironment::Prepared, Ended> WrapperEnvironment::prepare(
    const Runners& runners, PythonZygote& zygote, bool on_gpu, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  const std::pair place{zygote.interpreter().executable, on_gpu};
  const auto known = held_.find(place);
  if (known != held_.end()) {
    Prepared prepared = known->second.prepared;
    prepared.made_ms = 0;
    const bool is_plain = prepared.folder.empty();
    const bool stands = is_plain ? !keeps_ || Clock::now() - known->second.since < kTryAgain
                                 : !store_.find(prepared.key).empty();
    if (stands) return prepared;
  }
  auto looked = look(runners, zygote, on_gpu, stop);
  const auto* prepared = std::get_if<Prepared>(&looked);
  if (prepared != nullptr && !stop.stop_requested()) held_[place] = {*prepared, Clock::now()};
  return looked;
}

std::variant<WrapperEnvironment::Prepared, Ended> WrapperEnvironment::look(
    const Runners& runners, PythonZygote& zygote, bool on_gpu, const std::stop_token& stop) {
  const auto lacks = [](const std::string& what) {
    return Ended{.verdict = job::Verdict::unsupported,
                 .summary = "The host code of a torch_cuda source cannot be compiled here: " +
                            what + " is missing.",
                 .detail = {{"missing", what}}};
  };
  if (runners.toolkit().include_folders.empty()) return lacks("the CUDA headers (cuda_runtime.h)");
  auto answer =
      ask_host_compiler(runners, zygote, {{"type", "host_compiler"}}, {}, {}, kDescribeLimit, stop);
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  return decode_claim(RunnerRole::compile, [&]() -> std::variant<Prepared, Ended> {
    const json& said = std::get<frames::Frame>(answer).body;
    const auto missing = said.at("missing").get<std::string>();
    if (!missing.empty()) return lacks(missing);
    Prepared prepared{.key = key_of(said, runners.toolkit(), on_gpu),
                      .compiler = said.at("compiler").get<std::string>()};
    if (!keeps_) {
      prepared.note = "there is no state folder";
    } else if (prepared.folder = store_.find(prepared.key); prepared.folder.empty()) {
      make(prepared, runners, zygote, on_gpu, stop);
    }
    return prepared;
  });
}

void WrapperEnvironment::make(Prepared& prepared, const Runners& runners, PythonZygote& zygote,
                              bool on_gpu, const std::stop_token& stop) {
  const auto start = Clock::now();
  auto begun = store_.begin(prepared.key, stop);
  if (const auto* why = std::get_if<std::string>(&begun)) {
    prepared.note = *why;
    return;
  }
  const auto& making = std::get<WrapperStore::Making>(begun);
  // Another server may have been first.
  prepared.folder = store_.find(prepared.key);
  if (!prepared.folder.empty()) return;
  auto answer = ask_host_compiler(runners, zygote,
                                  {{"type", "precompile"},
                                   {"headers", wrapper_headers()},
                                   {"folder", making.aside().string()},
                                   {"on_gpu", on_gpu}},
                                  {}, making.aside(), kPrecompileLimit, stop);
  const auto* frame = std::get_if<frames::Frame>(&answer);
  if (frame == nullptr) {
    prepared.note = std::get<Ended>(answer).summary;
  } else if (!frame->body.value("ok", false)) {
    prepared.note = frame->body.value("log", std::string("it failed")).substr(0, 500);
  } else {
    prepared.folder = store_.keep(making, prepared.key);
    if (prepared.folder.empty()) prepared.note = "what was made could not be kept";
  }
  prepared.made_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace assay::node
