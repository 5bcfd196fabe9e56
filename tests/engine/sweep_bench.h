// A sweep whose kernels are judged by a table, for its tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/node/sweep_job.h"
#include "tests/catch.h"

namespace assay::sweep_bench {

using namespace assay::node;
using nlohmann::json;

struct Told final : Reporter {
  std::vector<json> stages{};
  void tell(StageEvent event) override {
    json one = event.record.body;
    one["stage"] = event.record.name;
    one["ms"] = event.record.elapsed_ms;
    stages.push_back(std::move(one));
  }
  void settle() override {}
};

// A judge by table: how long each kernel takes, or how it fails.
struct FakeJudge {
  std::map<std::string, double> times_ns{};
  std::map<std::string, std::string> failures{};
  std::set<std::string> alike{};   // indistinguishable from whatever they are compared with
  std::set<std::string> faster{};  // than whatever they are compared with
  std::map<std::string, double> graphs_ns{};  // slopes of those that have one
  std::map<std::string, std::string> trusts{};
  std::set<std::string> doubtful{};                         // in longer rounds than the first
  std::map<std::string, std::vector<std::string>> later{};  // verdicts there, as long as it has any
  std::map<std::string, std::string> beside{};   // trust or verdict of those that are compared
  std::map<std::string, std::string> outputs{};  // of those that compute something of their own
  std::map<std::string, double> takes_s{};       // of execution; more than its timeout is cut there
  const char* clock = "gpu";
  std::string device{};  // that it says it ran on; "": it says nothing
  std::mutex mutex{};
  std::vector<json> asked{};

  Conclusion operator()(const json& request) {
    const std::string name = request.at("kernel").at("name");
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    if (failures.contains(name)) {
      const auto verdict = job::verdict_from(failures.at(name)).value();
      const bool at_compile = verdict == job::Verdict::compile_failed;
      if (at_compile || request.at("options").at("until") != "compiled") {
        return {.verdict = verdict, .body = {{"summary", "it failed: " + name}}};
      }
    }
    const json& until = request.at("options").at("until");
    if (until != "compiled" && takes_s.contains(name)) {
      const double timeout = request.at("options").at("timeout");
      const double seconds = std::min(timeout, takes_s[name]);
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      if (takes_s[name] > timeout) {
        return {.verdict = job::Verdict::timed_out, .body = {{"summary", "it hung: " + name}}};
      }
    }
    if (until == "validated" && outputs[name] != outputs[request.at("ref_kernel").at("name")]) {
      return {.verdict = job::Verdict::wrong_output, .body = {{"summary", "it differs: " + name}}};
    }
    const bool is_later = until == "timed" && request.at("options").at("num_trials") > 10;
    if (is_later && !later[name].empty()) {
      const auto verdict = job::verdict_from(later[name].back()).value();
      later[name].pop_back();
      return {.verdict = verdict, .body = {{"summary", "not this time: " + name}}};
    }
    Conclusion conclusion{.verdict = job::Verdict::passed,
                          .body = {{"summary", "passed"}, {"trust", "verified"}}};
    if (!device.empty()) conclusion.body["environment"] = {{"device", device}};
    json timed = {{"clock", clock},
                  {"samples_ns",
                   std::vector<double>(request.at("options").at("num_trials"), times_ns[name])}};
    if (request.contains("ref_kernel")) {
      timed["speedup"] = {{"ratio", faster.contains(name) ? 1.02 : 1.0},
                          {"verdict", faster.contains(name)  ? "faster"
                                      : alike.contains(name) ? "indistinguishable"
                                                             : "slower"}};
    }
    if (graphs_ns.contains(name)) {
      timed["graph_counts"] = true;
      timed["views"]["graph"]["median_ns"] = graphs_ns[name];
    }
    if (trusts.contains(name)) conclusion.body["trust"] = trusts[name];
    if (doubtful.contains(name) && request.at("options").at("num_trials") > 10) {
      conclusion.body["trust"] = "audited";
      conclusion.body["warnings"] = {{{"code", "not_shown_anew"}, {"message", "no time"}}};
    }
    if (until == "timed" && request.contains("ref_kernel") && beside.contains(name)) {
      if (const auto verdict = job::verdict_from(beside[name])) {
        return {.verdict = *verdict, .body = {{"summary", "not as the other: " + name}}};
      }
      conclusion.body["trust"] = beside[name];
    }
    conclusion.body["stages"] = {
        {{"name", "validated"},
         {"body", {{"counters", {{"thread_instructions", times_ns[name]}}}}}},
        {{"name", "timed"}, {"body", timed}}};
    return conclusion;
  }
};

inline json request_of(const std::vector<std::string>& names, int trials = 100,
                       int budget_s = 100) {
  json variants = json::array();
  for (const auto& name : names) {
    variants.push_back(
        {{"name", name}, {"parameters", json::object()}, {"kernel", {{"name", name}}}});
  }
  return {{"variants", variants},
          {"options", {{"num_trials", trials}, {"until", "timed"}, {"timeout", 30}}},
          {"budget_s", budget_s}};
}

inline json swept(FakeJudge& judge, const json& request, Told& told,
                  job::Verdict* verdict = nullptr) {
  SweepJob sweep(request, [&](const json& one, const std::stop_token&) { return judge(one); }, told,
                 {});
  Conclusion conclusion = sweep.run();
  if (verdict != nullptr) *verdict = conclusion.verdict;
  return conclusion.body;
}

inline std::vector<std::string> names_of(const json& body) {
  std::vector<std::string> names;
  for (const auto& line : body.at("table")) names.push_back(line.at("name"));
  return names;
}

}  // namespace assay::sweep_bench
