// How many jobs a state directory holds, for statistics. A value; any thread.
#pragma once

#include <cstdint>
#include <map>

#include "engine/job/verdict.h"

namespace assay::journal {

struct Counts {
  std::map<job::State, std::uint64_t> by_state{};
  std::map<job::Verdict, std::uint64_t> by_verdict{};  // of the finished ones
  std::uint64_t jobs = 0;
  std::uint64_t bytes = 0;  // of bodies and linked artifacts, as retention counts them
  double mean_age_s = 0;    // of all jobs, since they were made; 0 without jobs
};

}  // namespace assay::journal
