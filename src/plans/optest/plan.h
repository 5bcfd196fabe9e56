// An operator test plan, read and checked: defaults are filled in, case overrides merged, paths
// still as they were written. docs/plans.md is the format. Values; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/contract/dtype.h"
#include "plans/optest/problem.h"

namespace assay::optest {

struct Shape {
  std::vector<std::int64_t> extents{};
  [[nodiscard]] std::uint64_t elements() const;
  [[nodiscard]] std::string text() const;  // "1x1024"; "scalar" without dimensions
  bool operator==(const Shape&) const = default;
};

struct ShapeEntry {
  std::vector<Shape> inputs{};
  std::vector<Shape> outputs{};
};

// What fills one input.
struct Filling {
  std::string name = "builtin.random";
  std::optional<std::uint64_t> seed{};  // negative seeds are kept as their two's complement
  nlohmann::json params = nlohmann::json::object();
  bool operator==(const Filling&) const = default;
};

struct Generator {
  Filling all{};
  std::string source{};  // of a custom one
  std::map<std::size_t, Filling> per_input{};
  nlohmann::json constants = nlohmann::json::object();
  Place place{};
  [[nodiscard]] bool is_custom() const { return !source.empty(); }
};

struct Assertion {
  std::string name = "builtin.identity";
  std::string source{};
  double rtol = 1e-5;
  double atol = 1e-4;
  std::string metric = "max_abs";
  std::vector<contract::DType> output_dtypes{};  // one per output
  nlohmann::json params = nlohmann::json::object();
  Place place{};
  [[nodiscard]] bool is_custom() const { return !source.empty(); }
};

struct Case {
  std::string name{};
  std::vector<contract::DType> dtypes{};
  std::vector<ShapeEntry> shapes{};
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
  Generator generator{};
  Assertion assertion{};
  std::vector<std::string> only{};
  std::vector<std::string> skip{};
  std::vector<std::string> xfail{};
  std::vector<std::string> tags{};  // the plan's too
  std::optional<std::int64_t> priority{};
};

using Command = std::vector<std::string>;

// A kernel in place of a command: judged by the engine itself.
struct KernelOfPlan {
  std::string source{};
  std::string kernel_type = "cuda";
  std::string kernel_name{};
  nlohmann::json io = nlohmann::json::object();  // args and launch; tensors are the plan's
  std::string device = "auto";
};

struct Backend {
  std::string type{};
  std::string chip{};
  std::string workdir{};
  std::map<std::string, std::string> env{};
  std::int64_t timeout_s = 300;
  std::int64_t retries = 0;
  std::vector<Command> prepare{};
  Command command{};
  std::vector<Command> cleanup{};
  std::vector<std::string> only_cases{};
  std::vector<std::string> skip_cases{};
  std::vector<std::string> xfail_cases{};
  nlohmann::json needs = nlohmann::json::object();  // `requires` of the plan
  std::optional<KernelOfPlan> kernel{};
};

enum class CachePolicy { reuse, regen };

struct Plan {
  std::filesystem::path folder{};
  std::string operator_name{};
  std::string description{};
  std::vector<Backend> backends{};
  std::vector<Case> cases{};
  CachePolicy cache = CachePolicy::reuse;
};

struct Loaded {
  std::optional<Plan> plan{};  // absent if a problem is fatal
  std::vector<Problem> problems{};
};

// `folder`: where relative paths of the plan start. Looks at the files that custom functions name,
// runs nothing.
[[nodiscard]] Loaded load_plan(const std::string& text, const std::filesystem::path& folder);

// No tensor, and no file, may be larger.
inline constexpr std::uint64_t kMaxTensorBytes = 4ULL << 30;

}  // namespace assay::optest
