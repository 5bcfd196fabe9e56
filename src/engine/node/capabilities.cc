#include "engine/node/capabilities.h"

#include <thread>

namespace assay::node {

using nlohmann::json;

namespace {

json triton_type(const Interpreter* interpreter, const std::string& runs_on) {
  if (interpreter == nullptr || !interpreter->packages.contains("triton")) {
    return {{"supported", false}, {"missing", "an interpreter with torch and triton"}};
  }
  return {{"supported", true},
          {"runs_on", runs_on},
          {"interpreter", interpreter->executable},
          {"triton", interpreter->packages.at("triton")}};
}

json kernel_types(const Toolkit& toolkit, const Gpus& gpus,
                  const std::vector<Interpreter>& interpreters) {
  const std::string runs_on = gpus.list.empty() ? "emulator" : gpus.list.front().device();
  const json cuda = toolkit.has_compiler() ? json{{"supported", true}, {"runs_on", runs_on}}
                                           : json{{"supported", false},
                                                  {"missing", "NVRTC, the CUDA compiler library"},
                                                  {"install", kInstallCompiler}};
  const Interpreter* interpreter = usable(interpreters);
  const bool on_gpu = interpreter != nullptr && !gpus.list.empty() && !interpreter->cuda.empty();
  const json python = interpreter != nullptr
                          ? json{{"supported", true},
                                 {"runs_on", on_gpu ? runs_on : "cpu"},
                                 {"interpreter", interpreter->executable}}
                          : json{{"supported", false}, {"missing", why_no_python(interpreters)}};
  json built = python;
  if (interpreter != nullptr) {
    built["needs"] = "g++, Python's headers and the CUDA headers";
    if (!on_gpu) built["runs_on"] = "cpu, its kernels on the emulator";
  }
  return {{"cuda", cuda},
          {"torch", python},
          {"torch_cuda", built},
          {"triton", triton_type(usable(interpreters, "triton"), runs_on)},
          {"multi_kernel", python}};
}

json devices(const Gpus& gpus) {
  json list = json::array();
  for (const Gpu& gpu : gpus.list) {
    json item = gpu.facts;
    item["name"] = gpu.device();
    item["kind"] = "gpu";
    item["model"] = gpu.name;
    item["arch"] = gpu.arch();
    item["driver"] = gpus.driver;
    if (const auto why = gpu.unusable(); !why.empty()) item["unusable"] = why;
    list.push_back(std::move(item));
  }
  list.push_back({{"name", "emulator"},
                  {"kind", "emulator"},
                  {"executes", "PTX on the CPU: correctness and diagnosis, no GPU times"},
                  {"arch", kEmulatorArch},
                  {"cores", std::thread::hardware_concurrency()}});
  return list;
}

}  // namespace

json capabilities(const confinement::Isolation& isolation, const Toolkit& toolkit,
                  const CompilerFacts& compiler, const Gpus& gpus,
                  const std::vector<Interpreter>& interpreters, unsigned slots) {
  json includes = json::array();
  for (const auto& folder : toolkit.include_folders) includes.push_back(folder.string());
  return {
      {"version", ASSAY_VERSION},
      {"devices", devices(gpus)},
      {"no_gpu", gpus.missing.empty() ? json(nullptr) : json(gpus.missing)},
      {"kernel_types", kernel_types(toolkit, gpus, interpreters)},
      {"python", describe(interpreters)},
      {"toolkit",
       {{"compiler", compiler.name.empty() ? json(nullptr) : json(compiler.name)},
        {"architectures", compiler.architectures},
        {"nvrtc", toolkit.has_compiler() ? json(toolkit.nvrtc.string()) : json(nullptr)},
        {"include_folders", std::move(includes)},
        {"sanitizer", toolkit.sanitizer.empty() ? json(nullptr) : json(toolkit.sanitizer.string())},
        {"searched", toolkit.searched}}},
      {"isolation", confinement::to_json(isolation)},
      {"slots", slots}};
}

json isolation_in_force(const confinement::Isolation& isolation) {
  return {{"level", confinement::to_text(isolation.level)}, {"in_force", isolation.in_force}};
}

Conclusion refused_isolation(const confinement::Isolation& isolation) {
  const std::string required(confinement::to_text(isolation.required));
  const std::string seen(confinement::to_text(isolation.level));
  return {
      .verdict = job::Verdict::engine_fault,
      .body = {{"summary", "Nothing was run: runners must be confined at " + required +
                               ", this machine was seen to give " + seen +
                               (isolation.failure.empty() ? "" : " (" + isolation.failure + ")") +
                               ". check_capabilities says which layer is missing and why."},
               {"retryable", false},
               {"environment", {{"isolation", isolation_in_force(isolation)}}},
               {"detail", {{"isolation", confinement::to_json(isolation)}}}}};
}

}  // namespace assay::node
