// A world of kernels whose engine does as it is told, and what an agent would ask of it.
#pragma once

#include <thread>

#include "tests/tools/world.h"

namespace assay::tests {

// Tells the stages it is given, then concludes; waits for a stop if told to hang.
class ScriptedEngine final : public node::Engine {
 public:
  std::vector<job::StageRecord> stages{};
  node::Conclusion conclusion{.verdict = job::Verdict::passed};
  bool hangs = false;
  std::vector<node::Order> orders{};

  node::Conclusion run(const node::Order& order,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token& stop) override {
    orders.push_back(order);
    for (const auto& stage : stages) on_stage({.record = stage});
    while (hangs && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop.stop_requested()) return {.verdict = job::Verdict::cancelled};
    return conclusion;
  }
  nlohmann::json capabilities() override {
    return {{"version", "test"},
            {"devices", nlohmann::json::array({{{"name", "emulator"}, {"kind", "emulator"}}})},
            {"kernel_types", nlohmann::json::object()},
            {"toolkit", nlohmann::json::object()},
            {"isolation", {{"level", "L1"}, {"not_in_force", nlohmann::json::array()}}}};
  }
};

using EvaluateWorld = World<ScriptedEngine>;

inline nlohmann::json contract() {
  return nlohmann::json::parse(R"({"args": [
      {"name": "x", "type": "tensor", "tensor_spec": {"shape": [8], "dtype": "float32", "init": {"kind": "randn", "seed": 1}}},
      {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [8], "dtype": "float32"}},
      {"name": "n", "type": "int", "value": 8}],
    "launch": {"grid": {"x": 1}, "block": {"x": 32}}})");
}

inline nlohmann::json evaluate_arguments() {
  return {{"kernel",
           {{"source_code", "__global__ void k(const float* x, float* y, int n) {}"},
            {"kernel_type", "cuda"},
            {"io", contract()}}}};
}

}  // namespace assay::tests
