// What a kernel's machine code does, counted in its disassembly: how wide it reads and writes
// memory, whether it uses tensor cores, what it keeps in local memory. Static: each instruction
// once, however often it runs.
//
// Reads what nvdisasm and cuobjdump print; a line of another form counts for nothing. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "mcp/json.h"

namespace assay::tools {

// {kernels: [{symbol, instructions, classes: {class: n}, global_loads, global_stores, shared_loads,
// shared_stores, local_loads, local_stores: {bits: n}, tensor: {mnemonic: n}, lines?}], note,
// kernels_truncated?}: of the first 50. Of the source lines, in order, the `most_lines` with most
// instructions: {file, line, instructions, …} with those counts that are not 0. 0: no lines.
[[nodiscard]] mcp::Json machine_code_summary(std::string_view sass, std::size_t most_lines);

}  // namespace assay::tools
