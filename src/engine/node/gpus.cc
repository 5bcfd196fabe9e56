#include "engine/node/gpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

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

std::vector<std::string> Gpu::nodes() const {
  std::vector<std::string> nodes;
  for (const char* path : kSharedNodes) add_if_there(path, nodes);
  add_if_there("/dev/nvidia" + std::to_string(device_minor), nodes);
  return nodes;
}

const Gpu* Gpus::find(const std::string& device) const {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Gpu& gpu) { return gpu.device() == device; });
  return found == list.end() ? nullptr : &*found;
}

std::vector<std::string> all_gpu_nodes() {
  std::vector<std::string> nodes;
  for (const char* path : kSharedNodes) add_if_there(path, nodes);
  constexpr int kMost = 64;
  for (int i = 0; i < kMost; ++i) add_if_there("/dev/nvidia" + std::to_string(i), nodes);
  return nodes;
}

Gpus find_gpus(const Runners& runners) {
  std::error_code ignored;
  if (!fs::exists(kSharedNodes[0], ignored)) {
    return {.missing =
                std::string(kSharedNodes[0]) + " does not exist: no NVIDIA driver is loaded"};
  }
  const auto runner = runners.start_on_gpu(RunnerRole::devices, {.nodes = all_gpu_nodes()});
  frames::Frame request;
  request.body = {{"type", "list"}};
  auto reply = runner->ask(std::move(request), std::chrono::steady_clock::now() + kLookLimit, {});
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
    return {.missing = blame(*end, RunnerRole::devices).summary + " " + end->detail + end->output};
  }
  const json& body = std::get<frames::Frame>(reply).body;
  if (body.value("type", "") != "devices") {
    return {.missing = body.value("reason", std::string("the driver gave no answer"))};
  }
  Gpus gpus{.driver = body.at("driver")};
  for (const auto& device : body.at("devices")) gpus.list.push_back(decode(device));
  if (gpus.list.empty()) gpus.missing = "the driver shows no device";
  return gpus;
}

}  // namespace assay::node
