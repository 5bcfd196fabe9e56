// The REST interface without a network: requests are function calls, over a fake engine and a real
// journal.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/job/kind.h"
#include "rest/rest.h"
#include "tools/jobs.h"

namespace assay::rest {

// Tells the stages it is given, then concludes; waits for a stop if told to hang.
class ScriptedEngine final : public node::Engine {
 public:
  std::vector<job::StageRecord> stages{{.name = "compiled", .elapsed_ms = 20},
                                       {.name = "prepared"},
                                       {.name = "validated", .elapsed_ms = 5}};
  node::Conclusion conclusion{.verdict = job::Verdict::passed, .body = {{"summary", "Passed."}}};
  std::atomic<bool> hangs{false};
  bool answers = true;
  nlohmann::json gpus = nlohmann::json::array();
  std::vector<nlohmann::json> requests{};

  node::Conclusion run(const node::Order& order,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token& stop) override {
    requests.push_back(order.request);
    for (const auto& stage : stages) on_stage({.record = stage});
    while (hangs && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop.stop_requested()) return {.verdict = job::Verdict::cancelled};
    return conclusion;
  }
  nlohmann::json capabilities() override {
    if (!answers) throw std::runtime_error("the engine cannot be started");
    nlohmann::json devices = gpus;
    devices.push_back({{"name", "emulator"}, {"kind", "emulator"}});
    return {{"version", "test"},
            {"devices", std::move(devices)},
            {"kernel_types", {{"cuda", {{"supported", true}, {"runs_on", "emulator"}}}}},
            {"isolation", {{"level", level}, {"required", "L1"}}}};
  }
  std::string level = "L2";
};

struct Desk {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / job::new_job_id();
  std::int64_t now_ns = 1'800'000'000'000'000'000;
  journal::Journal journal{folder,
                           {.kinds = {job::kernel_kind()}, .now_ns = [this] { return now_ns; }}};
  journal::ArtifactStore artifacts{folder / "artifacts", 1 << 20, {}};
  ScriptedEngine engine{};
  tools::Jobs jobs{journal, artifacts, engine, [](const std::string&) {}};
  mcp::http::Site site = rest::site(jobs, nullptr);

  ~Desk() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  mcp::http::HttpAnswer ask(const std::string& method, const std::string& target,
                            const std::string& body = {}, const std::string& principal = "local",
                            const std::stop_token& stop = {}) const {
    const std::size_t mark = std::min(target.find('?'), target.size());
    const mcp::http::HttpRequest request{.method = method,
                                         .path = target.substr(0, mark),
                                         .query = target.substr(std::min(mark + 1, target.size())),
                                         .body = body};
    if (!site.serves(request)) return site.refusal(404, "Not Found");
    return site.answer({.request = request, .principal = principal, .stop = stop});
  }
  nlohmann::json get(const std::string& target) const {
    return nlohmann::json::parse(ask("GET", target).body);
  }
};

inline nlohmann::json body_of(const mcp::http::HttpAnswer& answer) {
  return nlohmann::json::parse(answer.body);
}

// A header's value; empty if there is none.
inline std::string field(const mcp::http::HttpAnswer& answer, std::string_view name) {
  for (const auto& one : answer.fields)
    if (mcp::http::same_name(one.name, name)) return one.value;
  return {};
}

inline nlohmann::json contract() {
  return nlohmann::json::parse(R"({"args": [
      {"name": "x", "type": "tensor", "tensor_spec": {"shape": [8], "dtype": "float32", "init": {"kind": "randn", "seed": 1}}},
      {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [8], "dtype": "float32"}},
      {"name": "n", "type": "int", "value": 8}],
    "launch": {"grid": {"x": 1}, "block": {"x": 32}}})");
}

inline nlohmann::json kernel(const std::string& type = "cuda") {
  return {{"source_code", "__global__ void k(const float* x, float* y, int n) {}"},
          {"kernel_type", type},
          {"io", contract()}};
}

inline nlohmann::json evaluation() { return {{"kernel", kernel()}}; }
inline nlohmann::json comparison() {
  return {{"ref_kernel", kernel()}, {"custom_kernel", kernel()}};
}

}  // namespace assay::rest
