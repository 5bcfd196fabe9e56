// The GPUs of this node, as a confined runner saw them once: the engine itself never calls the
// driver. A plain value after that; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
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

// Every device node of the driver, for the runner that looks.
[[nodiscard]] std::vector<std::string> all_gpu_nodes();

// Blocks until a runner has answered, at most some seconds.
[[nodiscard]] Gpus find_gpus(const Runners& runners);

}  // namespace assay::node
