// The child's side. An executable that spawn() starts does this first thing in main(), before it
// makes a thread or reads a byte:
//
//   int main(int argc, char** argv) {
//     if (const auto code = assay::confinement::enter_confinement(argc, argv)) return *code;
//     …the role; the confinement is in force, descriptor 3 is the channel…
//
// It returns the keeper's and the init's exit code in those two processes, and nothing in the
// worker. The worker returns only with every layer in force that was asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/posix/descriptor.h"

namespace assay::confinement {

// The first argument of a process that spawn() started; enter_confinement() takes it out of argv.
// Without it the executable was started by hand: enter_confinement() does nothing and returns
// nothing.
inline constexpr std::string_view kConfinedFlag = "--confined";

[[nodiscard]] std::optional<int> enter_confinement(int& argc, char** argv);

// The same in a process that a zygote has just forked for spawn()'s caller: takes the descriptors
// and the environment of the Handover, and nothing else of the zygote's but its memory.
[[nodiscard]] std::optional<int> enter_confinement_forked(
    std::vector<posix::Descriptor> descriptors, const std::vector<std::string>& environment);

}  // namespace assay::confinement
