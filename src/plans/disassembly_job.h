// The job kind `disassembly`: a cubin's machine code as text, by NVIDIA's nvdisasm or cuobjdump. It
// is no job of a client's: the server orders it when somebody reads a job's machine code, and the
// journal never learns of it.
//
// The cubin is what a compiler made of a stranger's source, and the disassembler reads it with a
// parser of its own: a confined process, with little memory and little time, that sees its own
// folder and one file.
#pragma once

#include <filesystem>
#include <stop_token>

#include "plans/workshop.h"

namespace assay::plans {

// The order: {cubin: base64, bytes}. One stage with the artifact `sass`, or `unsupported` with the
// reason: no disassembler, no confinement, or what it said of this cubin.
[[nodiscard]] node::Conclusion run_disassembly_job(const node::Order& order,
                                                   node::Reporter& reporter,
                                                   const std::stop_token& stop,
                                                   const Workshop& workshop,
                                                   const std::filesystem::path& disassembler);

}  // namespace assay::plans
