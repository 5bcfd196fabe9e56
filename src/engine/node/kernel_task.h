// What an `evaluate` asks of the engine, decoded once from the order's JSON. The server has checked
// it against the schemas and parsed the contracts; what is wrong here is a disagreement between
// server and engine and throws.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/node/timing_method.h"

namespace assay::node {

struct KernelSource {
  std::string source{};
  std::string kernel_type{};
  std::string kernel_name{};  // "": the first __global__ of the source
  std::vector<std::string> compiler_options{};
  std::vector<std::string> name_expressions{};
  contract::Contract contract{};
  bool has_contract = false;
  bool takes_kernels_contract = false;  // a reference without one of its own
  // Of the Python types: what is to be called (the manual's metadata).
  std::string function_name{};
  std::string class_name{};
  std::string method_name{};
  std::string entry_point{};
  std::string python{};  // the interpreter that it runs on or is compiled by; "": the default

  // Whether the source's own host code is called; of a Triton kernel only device code runs.
  [[nodiscard]] bool is_python() const { return kernel_type != "cuda" && kernel_type != "triton"; }
};

enum class Until { compiled, validated, timed, profiled };
[[nodiscard]] std::optional<Until> until_from(std::string_view text);

// compile_kernel's question: what every kernel of the source needs on this target.
struct Listing {
  std::string arch{};
  // Of the launch it is meant for, 0 where the caller said nothing.
  unsigned block_threads = 0;
  std::uint64_t dynamic_shared_bytes = 0;
  nlohmann::json draft = nullptr;  // what the server inferred of a contract, if anything
};

// A task near the one that was asked for, which the kernel was not shown: other sizes or contents.
struct HiddenTask {
  nlohmann::json changed = nlohmann::json::object();  // what the report says of it
  contract::Contract contract{};
  contract::Contract reference_contract{};
};

struct KernelTask {
  // What the caller calls the two, for pointers and the report.
  std::string judged_name = "kernel";
  std::string reference_name = "ref_kernel";
  KernelSource kernel{};
  std::optional<Listing> listing{};
  std::optional<KernelSource> reference{};
  // What the outputs must be, base64 by argument, where no reference says it: of a plan's golden.
  nlohmann::json expected = nlohmann::json::object();
  std::uint32_t num_trials = 100;
  bool may_add_trials = false;  // the caller named no number
  std::uint32_t num_warmup = 1;
  TimingMethod timing_method = TimingMethod::automatic;
  // The first uses the contract's own seeds, which anybody can draw beforehand: of drawn inputs a
  // reference is asked for two answers at least (decode_kernel_task sees to that).
  std::uint32_t validation_trials = 3;
  // Of execution; queueing and compiling do not count.
  std::chrono::milliseconds timeout{120'000};
  std::optional<double> atol{};
  std::optional<double> rtol{};
  Until until = Until::profiled;
  std::string device = "auto";
  std::vector<std::string> checks{};  // of evaluate: memory, races, initialised, barriers, numbers
  std::uint32_t check_blocks = 0;     // checks look at so many blocks; 0: at all
  std::vector<std::string> metrics_sections{};  // of device metrics; empty: none
  std::string client{};                         // whose task it is
  std::string job_id{};                         // what a profiler calls it
  bool in_double = false;                       // the reference is to be evaluated in double too
  bool generalise = false;                      // whether the hidden tasks were asked for
  std::vector<HiddenTask> hidden{};
  std::string hidden_note{};  // why they are not more

  // Whether the reference works on CPU tensors: such a task does without a GPU, unless the kernel
  // is Python too.
  [[nodiscard]] bool has_python_reference() const { return reference && reference->is_python(); }
  // Whether its device metrics are wanted, once it has been timed.
  [[nodiscard]] bool counts() const { return until > Until::timed && !metrics_sections.empty(); }
};

[[nodiscard]] KernelTask decode_kernel_task(const nlohmann::json& request);

[[nodiscard]] bool is_among(const std::vector<std::string>& checks, std::string_view wanted);

}  // namespace assay::node
