#include "engine/confinement/enter.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "engine/confinement/child.h"
#include "engine/confinement/keeper.h"
#include "engine/confinement/plan.h"
#include "engine/confinement/wire.h"

namespace assay::confinement {
namespace {

// The plan lives as long as the keeper that carries it out.
std::optional<int> keep_plan() {
  Plan plan;
  try {
    plan = read_plan(kPlanDescriptor);
  } catch (const std::exception& error) {
    report_no_plan(error.what());
    return 1;
  }
  return keep(plan);
}

// What posix_spawn does with the same list, in a process that is already there.
void take_descriptors(std::vector<posix::Descriptor>& descriptors) {
  constexpr int kAboveTargets = 64;
  for (auto& one : descriptors) {
    one = posix::Descriptor(::fcntl(one.get(), F_DUPFD, kAboveTargets));
  }
  posix::Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), STDIN_FILENO);
  null.reset();
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    ::dup2(descriptors[i].get(), static_cast<int>(i) + STDOUT_FILENO);
  }
  for (auto& one : descriptors) static_cast<void>(one.release());
  static_cast<void>(::close_range(kPlanDescriptor + 1, ~0U, 0));
}

void forget_zygote() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  static_cast<void>(::setsid());
  // A zygote hides its memory; its child writes the identity maps of its namespaces through /proc.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

}  // namespace

std::optional<int> enter_confinement(int& argc, char** argv) {
  if (argc < 2 || argv[1] != kConfinedFlag) return std::nullopt;
  std::copy(argv + 2, argv + argc + 1, argv + 1);  // the terminating null too
  --argc;
  return keep_plan();
}

std::optional<int> enter_confinement_forked(std::vector<posix::Descriptor> descriptors,
                                            const std::vector<std::string>& environment) {
  take_descriptors(descriptors);
  forget_zygote();
  static std::vector<std::string> kept;  // the environment points into it
  kept = environment;
  ::clearenv();
  for (auto& entry : kept) ::putenv(entry.data());
  return keep_plan();
}

}  // namespace assay::confinement
