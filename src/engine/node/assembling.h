// What only an assembler knows of a program, asked for only where the emulator has a reason: it
// takes as long as compiling does. NVRTC hands inline assembly and the sizes of variables on
// without a look; on a GPU's path ptxas refuses what is wrong there, and says how many registers a
// thread takes, of which a block may need more than there are.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "engine/node/compilation.h"
#include "engine/node/kernel_claim.h"

namespace assay::node {

// `ended`, or that the source does not compile, with the assembler's words and their line, if that
// is why it could not be loaded.
[[nodiscard]] Ended unless_refused(Ended ended, const Compiler& compiler,
                                   const KernelSource& source, const std::stop_token& stop);

// Why a device would not launch the kernel with blocks of `threads`: its registers. Assembles only
// what has many here already.
[[nodiscard]] std::optional<Ended> too_many_registers(const Loaded& loaded, std::uint64_t threads,
                                                      const Compiler& compiler,
                                                      const KernelSource& source,
                                                      const std::stop_token& stop);

}  // namespace assay::node
