// A contract in words and in bytes, for a model that is to see at a glance what it asked for.
// Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

// One line per argument, then one for the launch.
[[nodiscard]] std::vector<std::string> explain(const Contract& contract);

// {"total": n, "args": {name: bytes of its buffer, …}}, tensors only.
[[nodiscard]] nlohmann::json bytes_of(const Contract& contract);

// "4,096 B", "1.5 MiB".
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);

}  // namespace assay::contract
