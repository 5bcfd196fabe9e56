// Python functions that a plan names, called in a process of their own, confined where the engine
// can confine: they see their own folder, the tensors, and write into a scratch folder. One per
// job, used by its thread.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "plans/python.h"
#include "plans/scratch_folder.h"

namespace assay::optest {

struct FunctionCall {
  bool is_generator = false;
  std::string source{};
  std::string name{};
  nlohmann::json arguments = nlohmann::json::object();
  std::vector<std::string> readable{};  // files the function is given
  std::filesystem::path writable{};     // below the scratch folder; "" for none
};

struct FunctionEnd {
  nlohmann::json result = nlohmann::json::object();
  std::string problem{};           // "": it returned
  bool is_infrastructure = false;  // no Python, no module: not the operator's fault
  std::string output{};            // the last of what it printed
};

class CustomFunctions {
 public:
  // `may_confine`: false when the caller wants the host.
  CustomFunctions(const plans::StepRunner& runner, const plans::ScratchFolder& scratch,
                  std::string python, bool may_confine);

  [[nodiscard]] FunctionEnd call(const FunctionCall& call, std::chrono::milliseconds timeout,
                                 const std::stop_token& stop);
  // "L2" or "host".
  [[nodiscard]] std::string level() const;

 private:
  const plans::StepRunner& runner_;
  const plans::ScratchFolder& scratch_;
  std::string wanted_;
  bool may_confine_;
  std::optional<plans::Python> python_{};
  int calls_ = 0;
};

}  // namespace assay::optest
