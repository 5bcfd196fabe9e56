// How strongly a child is confined, as the operator asks for it and as the report names it. The
// order of the enumerators is the order of strength. Pure values; any thread.
#pragma once

#include <optional>
#include <string_view>

namespace assay::confinement {

enum class Level {
  L0,   // nothing but rlimits, a built environment and the leash: only on the operator's explicit
        // word
  L1,   // + no_new_privs, no capabilities, Landlock, seccomp; needs no privilege
  L1u,  // L1 under a uid of the child's own; needs a root engine
  L1n,  // L1 + user, net, ipc, mount, uts, cgroup namespaces; where /proc cannot be mounted afresh
  L2,   // L1n + pid namespace with a fresh /proc
  L3,   // L2 + memory cgroup; named so that it can be asked for, not provided yet
};

// Which system calls and files a child keeps.
enum class Profile {
  compile,  // NVRTC: no device, no socket
  cpu,      // the emulator, the referee without a GPU: no device, no socket
  gpu,      // the driver: device nodes, AF_UNIX sockets that can reach nobody
};

[[nodiscard]] std::string_view to_text(Level level);
[[nodiscard]] std::optional<Level> level_from_text(std::string_view text);
[[nodiscard]] std::string_view to_text(Profile profile);
[[nodiscard]] std::optional<Profile> profile_from_text(std::string_view text);

// Namespaces and a private root are in force at L1n and above, a pid namespace at L2 and above.
[[nodiscard]] constexpr bool has_namespaces(Level level) { return level >= Level::L1n; }
[[nodiscard]] constexpr bool has_pid_namespace(Level level) { return level >= Level::L2; }

}  // namespace assay::confinement
