// A contract proposed from a CUDA source alone: names and types from the signature, roles from
// const and from what the body does, shapes from what bounds its indexes, the launch from host code
// if there is any, else from the thread coordinates. What is a guess is said to be one: the
// proposal is for a model to look at, not to trust.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::tools {

struct InferredContract {
  nlohmann::json document = nlohmann::json::object();  // symbols kept: {"shape": ["n"]}
  std::string kernel_name{};
  std::string instance{};  // of a template: what metadata.name_expressions needs; else ""
  std::vector<std::string> assumptions{};
};

struct NotInferred {
  std::string reason{};
  std::string kernel_name{};  // whose parameters no contract can hold; "" if there is no kernel
};

// `kernel_name` "": the first kernel; "scale<double>": that instance of a template. `sizes`: values
// of scalars that the caller knows.
[[nodiscard]] std::variant<InferredContract, NotInferred> infer_contract(
    std::string_view source, std::string_view kernel_name,
    const std::map<std::string, std::int64_t>& sizes);

}  // namespace assay::tools
