// The GPUs of this node, as a confined runner saw them once: the engine itself never calls the
// driver. A plain value after that; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace assay::node {

class Runners;

struct Gpu {
  int index = 0;
  std::string name{};
  std::string uuid{};
  int device_minor = 0;  // of /dev/nvidiaN
  int compute_major = 0;
  int compute_minor = 0;
  std::uint64_t memory_bytes = 0;
  nlohmann::json facts = nlohmann::json::object();  // as the runner told them

  [[nodiscard]] std::string device() const { return "gpu:" + std::to_string(index); }
  // Why no job can run there, and what changes that; "" if one can.
  [[nodiscard]] std::string unusable() const;
  // Its kernels can read and write memory of the host that nobody gave them: all of their process.
  [[nodiscard]] bool reaches_host_memory() const;
  // Part of a GPU that was divided (MIG).
  [[nodiscard]] bool is_instance() const;
  // What the compiler is told: with the features of this very target where such exist.
  [[nodiscard]] std::string arch() const;
  // The device nodes that a runner of this GPU needs, those that exist.
  [[nodiscard]] std::vector<std::string> nodes() const;
};

struct Gpus {
  std::vector<Gpu> list{};
  std::string driver{};   // "13.0": the CUDA version it speaks
  std::string missing{};  // why the list is empty

  [[nodiscard]] const Gpu* find(const std::string& device) const;
};

// What the operator's environment says of which GPUs there are, and in which order: for the runner
// that looks, whose driver reads it. `variable`: as std::getenv().
using Environment = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Environment operators_choice(const std::function<const char*(const char*)>& variable);
// Why there is none, where the driver's own reason may be that choice.
[[nodiscard]] std::string why_none(const std::string& reason, const Environment& choice);

// Of one divided GPU: the nodes that its instances are reached by, as the driver lists them below
// `capabilities` ("/proc/driver/nvidia/capabilities").
[[nodiscard]] std::vector<std::string> instance_nodes(const std::filesystem::path& capabilities,
                                                      int device_minor);

// Every device node of the driver, for the runner that looks.
[[nodiscard]] std::vector<std::string> all_gpu_nodes();

// Blocks until a runner has answered, at most some seconds.
[[nodiscard]] Gpus find_gpus(const Runners& runners);

}  // namespace assay::node
