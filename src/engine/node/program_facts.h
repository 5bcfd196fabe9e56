// What compile_kernel answers of a program: the compile runner's listing of its kernels, with what
// the engine adds (occupancy, where they run, a contract to start from). The listing is a claim of
// a process that met user input: it is read member by member, and json exceptions leave for
// decode_claim().
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/node/compilation.h"

namespace assay::node {

// {compiler, compile_ms, cached, ptx_bytes, diagnostics, diagnostics_truncated, kernels, contract}
[[nodiscard]] nlohmann::json tell_program(const Program& program, const KernelSource& source,
                                          const Listing& listing);

// One sentence of what tell_program() gave, for the report. `wanted`: the kernel named, or "".
[[nodiscard]] std::string summary_of(const nlohmann::json& told, const std::string& wanted);

}  // namespace assay::node
