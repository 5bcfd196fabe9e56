// assay-runner: every process that meets what a user wrote, or the answers it is judged by, is one
// of these. Started by the engine only. Order: this line → namespaces → init → rlimits → Landlock →
// seccomp → the role, which is the first to read a byte from the channel.
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/confinement/probe.h"
#include "engine/runner/own_cores.h"
#include "engine/runner/role.h"
#include "engine/runner/sanitized_launch.h"
#include "engine/runner/step_role.h"
#include "engine/runner/zygote.h"

namespace {

using assay::frames::Caps;
using assay::frames::Channel;
using assay::frames::Frame;
using assay::runner::Role;

constexpr Role kRoles[] = {
    {.name = "compile", .serve = assay::runner::serve_compile},
    {.name = "kernel", .serve = assay::runner::serve_kernel},
    {.name = "gpu-kernel", .serve = assay::runner::serve_gpu_kernel},
    {.name = "devices", .serve = assay::runner::serve_devices},
    {.name = "referee", .serve = assay::runner::serve_referee},
    {.name = "sanitizer", .serve = assay::runner::serve_sanitizer},
};

// What follows `prefix` in the first word that begins with it; "" if none does.
std::string_view told(int argc, char** argv, std::string_view prefix) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, prefix.size()) == prefix) return word.substr(prefix.size());
  }
  return {};
}

int serve(const Role& role) {
  Channel channel(assay::posix::Descriptor(assay::confinement::kChannelDescriptor), Caps{}, true);
  try {
    return role.serve(channel);
  } catch (const std::exception& error) {
    // Ours, by definition: what the user's code does is a reply, never an exception.
    Frame fault;
    fault.body = {{"type", "fault"}, {"message", error.what()}};
    channel.send(std::move(fault));
    return 70;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Started by hand it would run its role unconfined.
  const bool spawned = argc > 1 && assay::confinement::kConfinedFlag == argv[1];
  if (const auto code = assay::confinement::enter_confinement(argc, argv)) return *code;
  if (argc == 2 && std::string_view(argv[1]) == assay::runner::kZygoteFlag) {
    return assay::runner::run_zygote();
  }
  // By compute-sanitizer, whose own walls it stands between.
  if (argc == 3 && std::string_view(argv[1]) == assay::runner::kSanitizedFlag &&
      ::prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER) {
    return assay::runner::launch_sanitized(argv[2]);
  }
  const std::string_view wanted = told(argc, argv, "--role=");
  if (wanted == "probe")
    return assay::confinement::run_probe(assay::confinement::kChannelDescriptor);
  if (spawned && wanted == "step") return assay::runner::become_step(argc, argv);
  if (const auto cores = told(argc, argv, "--cores="); !cores.empty()) {
    assay::runner::keep_to_cores(static_cast<unsigned>(std::atoi(cores.data())));
  }
  for (const Role& role : kRoles) {
    if (spawned && role.name == wanted) return serve(role);
  }
  std::fprintf(stderr, "assay-runner: started by the engine, not by hand (--role=NAME)\n");
  return 64;
}
