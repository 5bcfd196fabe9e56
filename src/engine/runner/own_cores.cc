#include "engine/runner/own_cores.h"

#include <sched.h>

namespace assay::runner {

void keep_to_cores(unsigned most) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t kept;
  CPU_ZERO(&kept);
  unsigned count = 0;
  for (int core = 0; core < CPU_SETSIZE && count < most; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    CPU_SET(core, &kept);
    ++count;
  }
  if (count > 0) ::sched_setaffinity(0, sizeof kept, &kept);
}

}  // namespace assay::runner
