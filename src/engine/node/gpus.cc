#include "engine/node/gpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "engine/node/ended.h"
#include "engine/node/runners.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// cuInit was measured at 0.1 s, 0.2 s as a machine's first; drivers of many devices take longer.
constexpr std::chrono::seconds kLookLimit{30};
constexpr std::array kSharedNodes{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"};

void add_if_there(const std::string& path, std::vector<std::string>& nodes) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) nodes.push_back(path);
}

// The driver numbers its nodes in another order than it lists devices.
int minor_of(const json& device) {
  std::string pci = device.at("pci");
  std::transform(pci.begin(), pci.end(), pci.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/proc/driver/nvidia/gpus/" + pci + "/information");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Device Minor:")) continue;
    const auto digit = line.find_first_of("0123456789");
    if (digit != std::string::npos) return std::stoi(line.substr(digit));
  }
  return device.at("index");
}

// CUcomputemode
constexpr int kExclusiveThread = 1;
constexpr int kProhibited = 2;
constexpr int kExclusiveProcess = 3;

constexpr const char* kCapabilities = "/proc/driver/nvidia/capabilities";
constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

// "DeviceFileMinor: 12"
void add_instance_node(const fs::path& access, std::vector<std::string>& nodes) {
  constexpr std::string_view kKey = "DeviceFileMinor:";
  std::ifstream file(access);
  for (std::string line; std::getline(file, line);) {
    const auto digit = line.find_first_of("0123456789");
    if (!line.starts_with(kKey) || digit == std::string::npos) continue;
    const auto end = line.find_first_not_of("0123456789", digit);
    nodes.push_back("/dev/nvidia-caps/nvidia-cap" + line.substr(digit, end - digit));
  }
}

Gpu decode(const json& device) {
  return {.index = device.at("index"),
          .name = device.at("name"),
          .uuid = device.at("uuid"),
          .device_minor = minor_of(device),
          .compute_major = device.at("compute_major"),
          .compute_minor = device.at("compute_minor"),
          .memory_bytes = device.at("memory_bytes"),
          .facts = device};
}

}  // namespace

std::string Gpu::arch() const {
  const int number = compute_major * 10 + compute_minor;
  return "sm_" + std::to_string(number) + (number >= 90 ? "a" : "");
}

std::string Gpu::unusable() const {
  const int mode = facts.value("compute_mode", 0);
  const std::string which = facts.value("pci", uuid);
  const std::string cure = " `nvidia-smi -i " + which + " -c 0`, as root, lets everybody in.";
  if (mode == kProhibited) {
    return device() + " is closed to all computing (compute mode prohibited)." + cure;
  }
  if (mode == kExclusiveProcess || mode == kExclusiveThread) {
    return device() +
           " is for one process at a time (compute mode exclusive), and a job needs several: what "
           "judges a kernel is never in the process that runs it." +
           cure;
  }
  return {};
}

bool Gpu::reaches_host_memory() const { return facts.value("pageable_memory_access", false); }

bool Gpu::is_instance() const { return facts.value("mig", false); }

std::vector<std::string> Gpu::nodes() const {
  std::vector<std::string> nodes;
  for (const char* path : kSharedNodes) add_if_there(path, nodes);
  add_if_there("/dev/nvidia" + std::to_string(device_minor), nodes);
  if (is_instance()) {
    for (const auto& node : instance_nodes(kCapabilities, device_minor)) add_if_there(node, nodes);
  }
  return nodes;
}

const Gpu* Gpus::find(const std::string& device) const {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Gpu& gpu) { return gpu.device() == device; });
  return found == list.end() ? nullptr : &*found;
}

Environment operators_choice(const std::function<const char*(const char*)>& variable) {
  Environment choice;
  for (const char* name : {kVisible, "CUDA_DEVICE_ORDER"}) {
    // One that is empty is a choice too: none.
    if (const char* value = variable(name)) choice.emplace_back(name, value);
  }
  return choice;
}

std::string why_none(const std::string& reason, const Environment& choice) {
  for (const auto& [name, value] : choice) {
    if (name != kVisible) continue;
    return reason + " (of those that " + name + " names: \"" + value + "\")";
  }
  return reason;
}

std::vector<std::string> instance_nodes(const fs::path& capabilities, int device_minor) {
  std::vector<std::string> nodes;
  std::error_code failed;
  // gpuN/mig/giG/access, gpuN/mig/giG/ciC/access
  const fs::path of_gpu = capabilities / ("gpu" + std::to_string(device_minor)) / "mig";
  fs::recursive_directory_iterator entry(of_gpu, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (entry->path().filename() == "access") add_instance_node(entry->path(), nodes);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<std::string> all_gpu_nodes() {
  std::vector<std::string> nodes;
  for (const char* path : kSharedNodes) add_if_there(path, nodes);
  constexpr int kMost = 64;
  for (int i = 0; i < kMost; ++i) {
    add_if_there("/dev/nvidia" + std::to_string(i), nodes);
    for (const auto& node : instance_nodes(kCapabilities, i)) add_if_there(node, nodes);
  }
  return nodes;
}

Gpus find_gpus(const Runners& runners) {
  std::error_code ignored;
  if (!fs::exists(kSharedNodes[0], ignored)) {
    return {.missing =
                std::string(kSharedNodes[0]) + " does not exist: no NVIDIA driver is loaded"};
  }
  const Environment choice = operators_choice(std::getenv);
  const auto runner =
      runners.start_on_gpu(RunnerRole::devices, {.nodes = all_gpu_nodes(), .environment = choice});
  frames::Frame request;
  request.body = {{"type", "list"}};
  auto reply = runner->ask(std::move(request), std::chrono::steady_clock::now() + kLookLimit, {});
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
    return {.missing = blame(*end, RunnerRole::devices).summary + " " + end->detail + end->output};
  }
  const json& body = std::get<frames::Frame>(reply).body;
  if (body.value("type", "") != "devices") {
    return {.missing =
                why_none(body.value("reason", std::string("the driver gave no answer")), choice)};
  }
  Gpus gpus{.driver = body.at("driver")};
  for (const auto& device : body.at("devices")) gpus.list.push_back(decode(device));
  if (gpus.list.empty()) gpus.missing = why_none("the driver shows no device", choice);
  return gpus;
}

}  // namespace assay::node
