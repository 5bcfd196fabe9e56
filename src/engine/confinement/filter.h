// The system call filter: allow by default, refuse what a kernel's author has no use for. Refusals
// are errors (EPERM, ENOSYS), not deaths, so that libraries fall back. Built by the engine with
// libseccomp, carried to the child as BPF, so that a child pays nothing for building it.
#pragma once

#include <string>

#include "engine/confinement/confinement.h"

namespace assay::confinement {

struct FilterShape {
  Profile profile = Profile::compile;
  bool may_start_processes = false;
  bool is_company = false;
  // Landlock knows truncation from ABI 3 on.
  bool refuse_truncate = false;
  // Landlock scopes signals from ABI 6 on; a pid namespace or a uid of its own do so too.
  bool own_signals_only = false;
  // setsid and setpgid do nothing and say that they did.
  bool keep_session = false;
};

// Without a pid namespace everything a worker starts stays in its process group, so that one kill()
// reaches it all. Refusing the calls would break ninja and Python's subprocess.
[[nodiscard]] constexpr bool keeps_session(const Layers& layers) {
  return layers.level != Level::L0 && !has_pid_namespace(layers.level);
}

[[nodiscard]] FilterShape filter_shape(const Confinement& confinement, int landlock_abi);

// An array of struct sock_filter. Computed once for each shape. Throws std::runtime_error if
// libseccomp fails. Any thread.
[[nodiscard]] const std::string& filter_program(const FilterShape& shape);

// How many system calls the shape refuses in whole or in part, for the report.
[[nodiscard]] std::size_t refused_calls(const FilterShape& shape);

// Puts a program in force in the calling thread, the placeholder for its own pid filled in. Needs
// no_new_privs. Throws SetupFailure.
void install_filter(std::string program);

}  // namespace assay::confinement
