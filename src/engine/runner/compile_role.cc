// The compile runner: CUDA C++ source in, PTX, perhaps a cubin, and findings out. No device, no
// network, no files but the toolkit's. What a program holds is read here as well, so that the
// emulator's parser and the readers of logs and cubins meet the user's words where they can hurt
// nobody.
//
//   → {type: "describe", nvrtc}                     loads the compiler
//   ← {type: "compiler", version, architectures}
//   → {type: "rehearse", nvrtc, folders}
//   ← {type: "rehearsed"}                           has compiled once, nothing of a user's
//   → {type: "compile", nvrtc, file, options, name_expressions, folders, examine, pch?} + source
//   ← {type: "compiled", ok, result, log, log_truncated, lowered, version, elapsed_ns,
//      diagnostics, diagnostics_truncated, ptx_bytes, kernels?, kernels_truncated?}
//      + PTX, then the cubin
//   → {type: "list"} + PTX
//   ← {type: "listed", kernels, kernels_truncated}
// Any of them but the last may be answered {type: "missing", what}: the compiler cannot be loaded.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "engine/confinement/landlock.h"
#include "engine/runner/diagnostics.h"
#include "engine/runner/kernel_listing.h"
#include "engine/runner/nvrtc.h"
#include "engine/runner/ptx_places.h"
#include "engine/runner/resource_usage.h"
#include "engine/runner/role.h"
#include "engine/runner/text_macros.h"
#include "engine/runner/zygote.h"

namespace assay::runner {
namespace {

using nlohmann::json;

// A megabyte of errors tells an agent nothing that the first part does not.
constexpr std::size_t kLogBytes = 128U << 10;

json describe(const Diagnostic& found) {
  json out = {{"severity", name(found.severity)}, {"message", found.message}};
  if (!found.file.empty()) out["file"] = found.file;
  if (found.line > 0) out["line"] = found.line;
  if (found.column > 0) {
    out["column"] = found.column;
    out["end_line"] = found.end_line;
    out["end_column"] = found.end_column;
  }
  if (!found.excerpt.empty()) out["excerpt"] = found.excerpt;
  return out;
}

// JSON is UTF-8 and a source need not be: what is not is replaced, never an exception.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = ' ';
  }
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

// What the kernels of a program of another compiler take.
frames::Frame list(const frames::Frame& request) {
  KernelListing listing = list_kernels(request.blob, {}, {});
  frames::Frame reply;
  reply.body = {{"type", "listed"},
                {"kernels", std::move(listing.kernels)},
                {"kernels_truncated", listing.truncated}};
  return reply;
}

class Compiler {
 public:
  explicit Compiler(std::unique_ptr<Nvrtc> loaded) : nvrtc_(std::move(loaded)) {}

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

  frames::Frame introduce() const {
    frames::Frame reply;
    reply.body = {
        {"type", "compiler"}, {"version", version()}, {"architectures", nvrtc_->architectures()}};
    return reply;
  }

  // Compiling for the first time touches memory that later compiles find there.
  // Where cores are many the compiler makes a thread that stays: it sees no more than what compiles
  // after it.
  frames::Frame rehearse(const json& body) const {
    see_headers_only(body);
    keep_freed_memory();
    (void)nvrtc_->compile(rehearsal());
    frames::Frame reply;
    reply.body = {{"type", "rehearsed"}};
    return reply;
  }

  frames::Frame compile(frames::Frame request) const {
    const auto start = std::chrono::steady_clock::now();
    const json& body = request.body;
    see_headers_only(body);
    const CompileRequest wanted{
        .source = std::move(request.blob),
        .file_name = body.value("file", std::string("kernel.cu")),
        .options = body.value("options", std::vector<std::string>{}),
        .name_expressions = body.value("name_expressions", std::vector<std::string>{})};
    const auto pch = body.value("pch", std::string());
    Compiled result = compile_with_headers(wanted, pch);
    const auto in_text = failed_in_own_text(result) ? with_macros_in_text(wanted) : std::nullopt;
    if (in_text) result = compile_with_headers(*in_text, pch);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    std::optional<KernelListing> listing;
    if (result.ok && body.value("examine", false)) {
      listing = list_kernels(result.ptx, wanted.source, resource_usage(result.log, result.cubin));
    }
    std::string log = printable(without_figures(result.log));
    auto found = parse_diagnostics(log, body.value("folders", std::vector<std::string>{}));
    if (!result.ok && needs_places(found)) {
      const Compiled listed = nvrtc_->compile(without_assembler(in_text ? *in_text : wanted));
      place_findings(found, listed.ptx, wanted.source, wanted.file_name);
    }
    json diagnostics = json::array();
    for (const auto& one : found.list) diagnostics.push_back(describe(one));
    const bool truncated = log.size() > kLogBytes;
    if (truncated) log = printable(log.substr(0, kLogBytes));
    json lowered = json::object();
    for (auto& [expression, name] : result.lowered) lowered[expression] = name;
    frames::Frame reply;
    reply.body = {{"type", "compiled"},
                  {"ok", result.ok},
                  {"result", result.result},
                  {"log", std::move(log)},
                  {"log_truncated", truncated},
                  {"lowered", std::move(lowered)},
                  {"version", version()},
                  {"elapsed_ns", std::chrono::nanoseconds(elapsed).count()},
                  {"diagnostics", std::move(diagnostics)},
                  {"diagnostics_truncated", found.truncated},
                  {"ptx_bytes", result.ptx.size()}};
    if (listing) {
      reply.body["kernels"] = std::move(listing->kernels);
      reply.body["kernels_truncated"] = listing->truncated;
    }
    reply.blob = std::move(result.ptx) + result.cubin;
    return reply;
  }

 private:
  // The system's files were needed to start; a source that includes one would find it in the log.
  static void see_headers_only(const json& body) {
    auto paths = body.value("folders", std::vector<std::string>{});
    const std::filesystem::path library = body.at("nvrtc").get<std::string>();
    paths.push_back(library.parent_path().string());  // it loads its built-ins as it compiles
    if (const auto pch = body.value("pch", std::string()); !pch.empty()) {
      paths.push_back(std::filesystem::path(pch).parent_path().string());
    }
    // A large source goes through temporary files, where there is a folder for them: below L1n
    // there is none.
    std::error_code none;
    const auto temporary = std::filesystem::temp_directory_path(none);
    confinement::open_only_below(
        paths, none ? std::vector<std::string>{} : std::vector<std::string>{temporary.string()});
  }

  // With the headers that the zygote has compiled already, if they fit after all.
  Compiled compile_with_headers(const CompileRequest& wanted, const std::string& pch) const {
    if (pch.empty()) return compile_without_headers(wanted);
    CompileRequest quick = wanted;
    quick.options.push_back("--use-pch=" + pch);
    quick.options.emplace_back("--pch-messages=false");
    Compiled result = nvrtc_->compile(quick);
    const bool unusable = result.log.find("precompiled header file \"") != std::string::npos ||
                          result.log.find(pch) != std::string::npos;
    return unusable ? nvrtc_->compile(wanted) : result;
  }

  // The compiler's own text of textures, surfaces and the device's runtime is an eighth of a small
  // compile. A source that needs it fails without, and any failure is the whole compiler's to tell;
  // what compiles both ways was seen to give the same PTX (130 kernels of tests/kernels).
  Compiled compile_without_headers(const CompileRequest& wanted) const {
    constexpr int kKnowsMinimal = 13;
    const bool includes = wanted.source.find("include") != std::string::npos;
    if (includes || nvrtc_->version().first < kKnowsMinimal) return nvrtc_->compile(wanted);
    CompileRequest quick = wanted;
    quick.options.emplace_back("-minimal");
    Compiled result = nvrtc_->compile(quick);
    return result.ok ? std::move(result) : nvrtc_->compile(wanted);
  }

  // The PTX that the assembler refused: NVRTC keeps it to itself unless it is all that is wanted.
  static CompileRequest without_assembler(const CompileRequest& wanted) {
    constexpr std::string_view kReal = "--gpu-architecture=sm_";
    CompileRequest request = wanted;
    std::erase_if(request.options,
                  [](const std::string& option) { return option.starts_with("-Xptxas"); });
    for (auto& option : request.options) {
      if (option.starts_with(kReal)) {
        option = "--gpu-architecture=compute_" + option.substr(kReal.size());
      }
    }
    return request;
  }

  std::string version() const {
    const auto [major, minor] = nvrtc_->version();
    return std::to_string(major) + "." + std::to_string(minor);
  }

  std::unique_ptr<Nvrtc> nvrtc_{};
};

}  // namespace

int serve_compile(frames::Channel& channel) { return serve_compile_with(channel, nullptr); }

int serve_compile_with(frames::Channel& channel, std::unique_ptr<Nvrtc> loaded) {
  Compiler compiler(std::move(loaded));
  while (auto request = channel.receive()) {
    const std::string verb = request->type();
    if (verb == "list") {
      channel.send(list(*request));
      continue;
    }
    if (verb != "describe" && verb != "compile" && verb != "rehearse") return 2;
    const std::string missing = compiler.load(request->body);
    if (!missing.empty()) {
      frames::Frame reply;
      reply.body = {{"type", "missing"}, {"what", missing}};
      channel.send(std::move(reply));
      continue;
    }
    channel.send(verb == "compile"    ? compiler.compile(std::move(*request))
                 : verb == "rehearse" ? compiler.rehearse(request->body)
                                      : compiler.introduce());
  }
  return 0;
}

}  // namespace assay::runner
