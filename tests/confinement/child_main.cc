// A well-behaved child for the tests: says what it finds itself to be, or compiles with NVRTC.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"

namespace {

using nlohmann::json;

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  return limit.rlim_cur;
}

json names_in(const char* folder) {
  json names = json::array();
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  while (!error && entries != std::filesystem::directory_iterator()) {
    names.push_back(entries->path().filename().string());
    entries.increment(error);
  }
  return names;
}

json environment() {
  json names = json::array();
  for (char** entry = environ; *entry != nullptr; ++entry) names.push_back(*entry);
  return names;
}

bool can_write(const std::string& folder) {
  const std::string name = folder + "/written";
  const int file = ::open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

// Threads must work although processes may not be made.
bool thread_runs() {
  bool ran = false;
  std::thread([&] { ran = true; }).join();
  return ran;
}

json describe(const std::vector<std::string>& arguments) {
  json writable = json::object();
  for (const auto& folder : arguments) writable[folder] = can_write(folder);
  return {{"arguments", arguments},
          {"environment", environment()},
          {"uid", ::getuid()},
          {"gid", ::getgid()},
          {"session_leader", ::getsid(0) == ::getpid()},
          {"root", names_in("/")},
          {"devices", names_in("/dev")},
          {"core", limit_of(RLIMIT_CORE)},
          {"files", limit_of(RLIMIT_NOFILE)},
          {"address_space", limit_of(RLIMIT_AS)},
          {"thread", thread_runs()},
          {"own_maps", ::access("/proc/self/maps", R_OK) == 0},
          {"writable", writable}};
}

// NVRTC by hand: five of its functions, in the types of its C interface.
class Nvrtc {
 public:
  // NVRTC asks for its builtins by their bare name, which is found if they are loaded already.
  explicit Nvrtc(const std::string& folder)
      : builtins_(::dlopen((folder + "/libnvrtc-builtins.so.13.0").c_str(), RTLD_NOW)),
        handle_(::dlopen((folder + "/libnvrtc.so.13").c_str(), RTLD_NOW)) {}
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }

  json compile(const std::string& source, const std::vector<std::string>& options) const {
    void* program = nullptr;
    int result = call<int (*)(void**, const char*, const char*, int, const char* const*,
                              const char* const*)>("nvrtcCreateProgram")(
        &program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
    if (result != 0) return {{"error", result}};
    std::vector<const char*> flags;
    for (const auto& option : options) flags.push_back(option.c_str());
    result = call<int (*)(void*, int, const char* const*)>("nvrtcCompileProgram")(
        program, static_cast<int>(flags.size()), flags.data());
    return {{"error", result},
            {"log", text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")},
            {"cubin_bytes", text(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN").size()}};
  }

 private:
  template <typename Function>
  [[nodiscard]] Function call(const char* name) const {
    return reinterpret_cast<Function>(::dlsym(handle_, name));
  }
  [[nodiscard]] std::string text(void* program, const char* size_of, const char* get) const {
    std::size_t size = 0;
    if (call<int (*)(void*, std::size_t*)>(size_of)(program, &size) != 0) return "";
    std::string text(size, '\0');
    call<int (*)(void*, char*)>(get)(program, text.data());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  void* builtins_ = nullptr;
  void* handle_ = nullptr;
};

json compile(const std::vector<std::string>& arguments) {
  const Nvrtc nvrtc(arguments.at(0) + "/lib");
  if (!nvrtc.loaded()) return {{"failure", ::dlerror()}};
  const std::vector<std::string> options{"-arch=sm_90", "-I" + arguments.at(0) + "/include"};
  return {{"good", nvrtc.compile("#include <cuda_fp16.h>\n"
                                 "extern \"C\" __global__ void twice(__half* x) {\n"
                                 "  x[threadIdx.x] = x[threadIdx.x] * __float2half(2.0f);\n}\n",
                                 options)},
          {"steal", nvrtc.compile("#include \"/etc/passwd\"\n", options)},
          {"endless", nvrtc.compile("#include \"/dev/zero\"\n", {"-arch=sm_90"})}};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = assay::confinement::enter_confinement(argc, argv)) return *code;
  if (argc < 2) return 64;
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  const std::string answer =
      (std::string(argv[1]) == "compile" ? compile(arguments) : describe(arguments)).dump();
  const auto written =
      ::write(assay::confinement::kChannelDescriptor, answer.data(), answer.size());
  return written == static_cast<ssize_t>(answer.size()) ? 0 : 1;
}
