#include "engine/confinement/enter.h"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "engine/confinement/keeper.h"
#include "engine/confinement/plan.h"
#include "engine/confinement/wire.h"

namespace assay::confinement {

std::optional<int> enter_confinement(int& argc, char** argv) {
  if (argc < 2 || argv[1] != kConfinedFlag) return std::nullopt;
  std::copy(argv + 2, argv + argc + 1, argv + 1);  // the terminating null too
  --argc;
  Plan plan;
  try {
    plan = read_plan(kPlanDescriptor);
  } catch (const std::exception& error) {
    report_no_plan(error.what());
    return 1;
  }
  return keep(plan);
}

}  // namespace assay::confinement
