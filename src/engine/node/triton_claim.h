// One Triton compile as it is asked of a Python runner
// (engine/python/assay_runner/triton_kernel.py) and what that process says came of it. The process
// has run the user's code: all of it is a claim, read member by member; json exceptions leave for
// decode_claim().
//
// Values; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/node/kernel_task.h"

namespace assay::node {

struct TritonClaim {
  std::string ptx{};
  std::string entry{};
  std::string kernel{};               // as the source calls it
  std::vector<std::size_t> passed{};  // the contract's argument behind each of the program's
  std::size_t scratch = 0;            // pointers behind those, for Triton's own use
  unsigned num_warps = 0;
  unsigned num_stages = 0;
  std::uint64_t shared_bytes = 0;
  nlohmann::json metas = nlohmann::json::object();
  // Of an autotuned kernel: how many there are, which of them was compiled, and the first few:
  // [{metas, num_warps, num_stages}].
  std::size_t configurations = 0;
  std::size_t chosen = 0;
  nlohmann::json choices = nlohmann::json::array();
  // Those before it that no device takes: [{choice, why}].
  nlohmann::json passed_over = nlohmann::json::array();
  bool has_hooks = false;            // host code that belongs to a launch
  std::vector<std::string> needs{};  // what no plain launch gives
  nlohmann::json warnings = nlohmann::json::array();
  std::string triton{};
};

// The source's kernel for sm_`arch` with the contract's arguments. All that the answer depends on
// stands in it, beside the interpreter's own packages. `file`: what the source is called in what is
// said of it.
[[nodiscard]] nlohmann::json triton_request(const KernelSource& source, int arch,
                                            const std::string& file);

[[nodiscard]] TritonClaim triton_claim(const nlohmann::json& body, std::string ptx);

}  // namespace assay::node
