// The compile runner: CUDA C++ source in, PTX and a log out. No device, no network, no files but
// the toolkit's; one source per process.
//
//   → {type: "warm", nvrtc}                                   loads the compiler ahead of the
//   source → {type: "compile", nvrtc, file, options, name_expressions} + source ← {type:
//   "compiled", ok, result, log, log_truncated, lowered, version, elapsed_ns} + PTX ← {type:
//   "missing", what}                                 the compiler cannot be loaded
#include <chrono>
#include <memory>

#include "engine/runner/nvrtc.h"
#include "engine/runner/role.h"

namespace assay::runner {
namespace {

using nlohmann::json;

// A megabyte of errors tells an agent nothing that the first part does not.
constexpr std::size_t kLogBytes = 256U << 10;

class Compiler {
 public:
  // The reason the compiler cannot be had, empty if it can.
  std::string load(const json& body) {
    if (nvrtc_) return {};
    try {
      nvrtc_ = std::make_unique<Nvrtc>(body.at("nvrtc").get<std::string>());
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  frames::Frame compile(frames::Frame request) const {
    const auto start = std::chrono::steady_clock::now();
    const json& body = request.body;
    const CompileRequest wanted{
        .source = std::move(request.blob),
        .file_name = body.value("file", std::string("kernel.cu")),
        .options = body.value("options", std::vector<std::string>{}),
        .name_expressions = body.value("name_expressions", std::vector<std::string>{})};
    Compiled result = nvrtc_->compile(wanted);
    const bool truncated = result.log.size() > kLogBytes;
    if (truncated) result.log.resize(kLogBytes);
    json lowered = json::object();
    for (auto& [expression, name] : result.lowered) lowered[expression] = name;
    const auto elapsed = std::chrono::steady_clock::now() - start;
    const auto [major, minor] = nvrtc_->version();
    frames::Frame reply;
    reply.body = {{"type", "compiled"},
                  {"ok", result.ok},
                  {"result", result.result},
                  {"log", std::move(result.log)},
                  {"log_truncated", truncated},
                  {"lowered", std::move(lowered)},
                  {"version", std::to_string(major) + "." + std::to_string(minor)},
                  {"elapsed_ns", std::chrono::nanoseconds(elapsed).count()}};
    reply.blob = std::move(result.ptx);
    return reply;
  }

 private:
  std::unique_ptr<Nvrtc> nvrtc_{};
};

}  // namespace

int serve_compile(frames::Channel& channel) {
  Compiler compiler;
  while (auto request = channel.receive()) {
    const std::string verb = request->type();
    if (verb != "warm" && verb != "compile") return 2;
    const std::string missing = compiler.load(request->body);
    if (!missing.empty()) {
      frames::Frame reply;
      reply.body = {{"type", "missing"}, {"what", missing}};
      channel.send(std::move(reply));
      continue;
    }
    if (verb == "compile") channel.send(compiler.compile(std::move(*request)));
  }
  return 0;
}

}  // namespace assay::runner
