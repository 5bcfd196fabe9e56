#include "engine/node/wrapper_environment.h"

#include <unistd.h>

#include <atomic>
#include <system_error>

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
constexpr const char* kAside = ".aside-";
// A maker that has not renamed its folder by now was killed.
constexpr std::chrono::minutes kStale{15};

json include_folders(const Toolkit& toolkit) {
  json folders = json::array();
  for (const auto& folder : toolkit.include_folders) folders.push_back(folder.string());
  return folders;
}

std::string aside_name() {
  static std::atomic<unsigned> number{0};
  return kAside + std::to_string(::getpid()) + "-" + std::to_string(number++);
}

// What a folder is named by: the library headers as their versions say, ours and the toolkit's as
// they are.
std::string key_of(const json& said, const Toolkit& toolkit, bool on_gpu) {
  return confinement::sha256(said.dump() + wrapper_headers().dump() +
                             include_folders(toolkit).dump() + toolkit.nvrtc.string() +
                             (on_gpu ? "gpu" : "cpu"));
}

}  // namespace

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
  const auto known = prepared_.find(place);
  std::error_code ignored;
  if (known != prepared_.end() &&
      (known->second.folder.empty() || fs::exists(known->second.folder, ignored))) {
    Prepared prepared = known->second;
    prepared.made_ms = 0;
    return prepared;
  }
  auto looked = look(runners, zygote, on_gpu, stop);
  if (const auto* prepared = std::get_if<Prepared>(&looked)) prepared_[place] = *prepared;
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
    std::error_code error;
    const fs::path folder = folder_ / prepared.key;
    if (folder_.empty()) {
      prepared.note = "there is no state folder";
    } else if (fs::exists(folder / "wrapper.h.gch", error)) {
      prepared.folder = folder;
    } else {
      make(prepared, runners, zygote, on_gpu, stop);
    }
    return prepared;
  });
}

void WrapperEnvironment::make(Prepared& prepared, const Runners& runners, PythonZygote& zygote,
                              bool on_gpu, const std::stop_token& stop) {
  const auto start = Clock::now();
  std::error_code error;
  const fs::path aside = folder_ / aside_name();
  fs::create_directories(aside, error);
  tidy();
  if (error) {
    prepared.note = error.message();
    return;
  }
  auto answer = ask_host_compiler(runners, zygote,
                                  {{"type", "precompile"},
                                   {"headers", wrapper_headers()},
                                   {"folder", aside.string()},
                                   {"on_gpu", on_gpu}},
                                  {}, aside, kPrecompileLimit, stop);
  const auto* frame = std::get_if<frames::Frame>(&answer);
  if (frame == nullptr) {
    prepared.note = std::get<Ended>(answer).summary;
  } else if (!frame->body.value("ok", false)) {
    prepared.note = frame->body.value("log", std::string("it failed")).substr(0, 500);
  } else {
    const fs::path folder = folder_ / prepared.key;
    fs::rename(aside, folder, error);
    // Another server may have been first.
    if (fs::exists(folder / "wrapper.h.gch", error)) prepared.folder = folder;
  }
  fs::remove_all(aside, error);
  prepared.made_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void WrapperEnvironment::tidy() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.path().filename().string().starts_with(kAside)) continue;
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
    if (!error && age > kStale) fs::remove_all(entry.path(), error);
  }
}

}  // namespace assay::node
