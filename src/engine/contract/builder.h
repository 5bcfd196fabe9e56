// The manual's IOContractBuilder as data: a list of steps, each a method with its arguments, made
// into a contract's document. Methods: add_input_tensor, add_output_tensor, add_inout_tensor,
// add_scalar, add_meta_param, set_launch_config, set_grid, set_block, set_num_warps,
// set_num_stages, build, and our set_shared_mem_bytes, set_size. Where a tensor_spec is wanted,
// create_tensor_spec, create_randn_spec, create_uniform_spec, create_zeros_spec, create_ones_spec,
// create_full_spec and create_arange_spec may be called, with the manual's defaults.
//
// A call is written in any of these ways, positional arguments in the manual's order:
//   {"method": "add_scalar", "name": "n", "type": "int", "value": 4}
//   {"method": "add_scalar", "args": ["n", "int", 4], "kwargs": {}}
//   {"add_scalar": {"name": "n", "type": "int", "value": 4}}
//   {"add_scalar": ["n", "int", 4]}
// (specs likewise, with "helper" for "method" if wished). Shape, dtype and init_kind may also stand
// beside a tensor's name without a spec.
//
// Pure; any thread; never throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

// The document for parse(), or what is wrong with which step.
[[nodiscard]] std::variant<nlohmann::json, std::vector<Violation>> from_steps(
    const nlohmann::json& steps, std::string_view base_pointer);

}  // namespace assay::contract
