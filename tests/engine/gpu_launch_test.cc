// What the driver's results mean of a kernel, by CUresult number (cuda.h).
#include "engine/runner/gpu_launch.h"

#include "tests/catch.h"

using namespace assay::runner;
using assay::emulator::Ending;
using assay::emulator::FaultKind;

TEST_CASE("a launch that no device of this kind accepts is the kernel's, whatever it asked for") {
  // INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES, LAUNCH_INCOMPATIBLE_TEXTURING,
  // COOPERATIVE_LAUNCH_TOO_LARGE, NOT_SUPPORTED, INVALID_CLUSTER_SIZE.
  for (const int result : {1, 701, 703, 720, 801, 912}) {
    CAPTURE(result);
    const auto outcome = outcome_of(result, "why");
    CHECK(outcome.ending == Ending::invalid_launch);
    CHECK(outcome.message == "why");
  }
}

TEST_CASE("a kernel that the driver's own watchdog has ended has run out of time") {
  CHECK(outcome_of(702, "LAUNCH_TIMEOUT").ending == Ending::budget_wall);
  CHECK(outcome_of(600, "NOT_READY").ending == Ending::budget_wall);
}

TEST_CASE("what a kernel's instructions did is its fault, told apart by name") {
  const auto kind_of = [](int result) {
    const auto outcome = outcome_of(result, "why");
    CHECK(outcome.ending == Ending::faulted);
    return outcome.fault.kind;
  };
  CHECK(kind_of(700) == FaultKind::out_of_bounds);
  CHECK(kind_of(710) == FaultKind::assertion);
  CHECK(kind_of(714) == FaultKind::stack_overflow);
  CHECK(kind_of(715) == FaultKind::trap);
  CHECK(kind_of(716) == FaultKind::misaligned);
  CHECK(kind_of(717) == FaultKind::out_of_bounds);
  CHECK(kind_of(718) == FaultKind::invalid_call);
  CHECK(kind_of(719) == FaultKind::trap);
  CHECK(kind_of(721) == FaultKind::trap);
}

TEST_CASE("what no kernel can bring about is ours, and thrown") {
  // NOT_INITIALIZED, ECC_UNCORRECTABLE, INVALID_HANDLE, MPS_CONNECTION_FAILED, UNKNOWN.
  for (const int result : {3, 214, 400, 805, 999}) {
    CAPTURE(result);
    CHECK_THROWS_AS(outcome_of(result, "why"), cuda::DriverError);
  }
}

TEST_CASE(
    "behind a kernel a fault, and work of ours that never ends, are its own; no memory is not") {
  CHECK(left_by_kernel(cuda::DriverError(715, "why")).fault.kind == FaultKind::trap);
  CHECK(left_by_kernel(cuda::DriverError(600, "why")).ending == Ending::budget_wall);
  for (const int result : {1, 2, 3, 400, 999}) {
    CAPTURE(result);
    CHECK_THROWS_AS(left_by_kernel(cuda::DriverError(result, "why")), cuda::DriverError);
  }
}

TEST_CASE("clusters of more than eight blocks are asked for, smaller ones every device has") {
  CHECK_FALSE(is_large_cluster(0, 0, 0));
  CHECK_FALSE(is_large_cluster(8, 1, 1));
  CHECK_FALSE(is_large_cluster(2, 2, 2));
  CHECK(is_large_cluster(16, 1, 1));
  CHECK(is_large_cluster(3, 3, 1));
  // A Python source's own numbers.
  CHECK(is_large_cluster(2147483647, 2147483647, 2147483647));
}
