// What counts and records, on a CUPTI that has no device; and what the real one knows of a chip
// without one.
#include <dlfcn.h>

#include "engine/node/device_metrics.h"
#include "engine/node/toolkit.h"
#include "engine/runner/cupti.h"
#include "engine/runner/kernel_record.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::runner;

namespace {

const std::string kFake = ASSAY_FAKE_CUPTI;
constexpr std::uintptr_t kRefusing = 35;

int nothing() { return 0; }

cuda::Handle refusing() { return reinterpret_cast<cuda::Handle>(kRefusing); }

auto fake_launch() {
  void* library = ::dlopen(kFake.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* launch =
      reinterpret_cast<void (*)(const char*, std::uint64_t)>(::dlsym(library, "fake_launch"));
  REQUIRE(launch != nullptr);
  return launch;
}

}  // namespace

TEST_CASE("metrics are added in one call, so that they share passes") {
  const cupti::Library library(kFake);
  const MetricPlan plan(library, "FAKE100", nullptr, {"a", "b", "c"});
  CHECK(plan.passes() == 1);
  CHECK(plan.names().size() == 3);
}

TEST_CASE("a metric that a chip does not have takes nothing from the others") {
  CounterSession session({.library = kFake, .metrics = {"a", "absent", "b"}}, nullptr);
  int launches = 0;
  REQUIRE(session.measure({.prepare = nothing, .launch = [&] { return ++launches, 0; }}) == 0);
  CHECK(launches == 1);
  CHECK(session.readings().missing.empty());
  CHECK(session.readings().refused == std::vector<std::string>{"absent"});
  CHECK(session.readings().values == decltype(CounterReadings::values){{"a", 1}, {"b", 1}});
}

TEST_CASE("kernels that settle the device run once the pass has begun, and are not counted") {
  CounterSession session({.library = kFake, .metrics = {"a"}}, nullptr);
  std::string order;
  const auto step = [&](char name) { return [&order, name] { return order += name, 0; }; };
  REQUIRE(session.measure(
              {.prepare = step('p'), .settle = {step('s'), step('t')}, .launch = step('l')}) == 0);
  CHECK(order == "pstl");
  CHECK(session.readings().values == decltype(CounterReadings::values){{"a", 201}});
}

TEST_CASE("where one fails nothing is launched") {
  CounterSession session({.library = kFake, .metrics = {"a"}}, nullptr);
  int launches = 0;
  CHECK(session.measure({.prepare = nothing, .settle = {[] { return 700; }}, .launch = [&] {
                           return ++launches, 0;
                         }}) == 700);
  CHECK(launches == 0);
  CHECK(session.readings().values.empty());
}

TEST_CASE("counters that are kept for administrators are said, and nothing is launched") {
  CounterSession session({.library = kFake, .metrics = {"a"}}, refusing());
  int launches = 0;
  REQUIRE(session.measure({.prepare = nothing, .launch = [&] { return ++launches, 0; }}) == 0);
  CHECK(launches == 0);
  CHECK(session.readings().values.empty());
  CHECK(session.readings().missing.find("ERR_NVGPUCTRPERM") != std::string::npos);
}

TEST_CASE("a launch that fails ends the counting, and its result is handed on") {
  CounterSession session({.library = kFake, .metrics = {"a"}}, nullptr);
  CHECK(session.measure({.prepare = nothing, .launch = [] { return 700; }}) == 700);
  CHECK(session.readings().values.empty());
}

TEST_CASE("no library and one without profiling are said") {
  CHECK(CounterSession({.metrics = {"a"}}, nullptr).readings().missing.find("not found") !=
        std::string::npos);
  const CounterSession other({.library = ASSAY_NVTX_RECORDER, .metrics = {"a"}}, nullptr);
  CHECK(other.readings().missing.find("too old") != std::string::npos);
}

TEST_CASE("what a group takes by itself is told where the chip is known") {
  PassCounts counts(kFake);
  CHECK(counts.of({"a", "b"}) == 1U);
  CHECK(counts.of({"a", "smsp__sass_x.sum", "smsp__sass_y.sum"}) == 3U);
  CHECK(counts.of({"absent"}) == 0U);
  CHECK_FALSE(PassCounts(kFake, "OTHER").of({"a"}).has_value());
  CHECK_FALSE(PassCounts("").of({"a"}).has_value());
}

TEST_CASE("launches of the kernel are recorded without counters, and no others") {
  const auto launch = fake_launch();
  KernelActivity activity;
  const auto launches = [&] {
    launch("k", 500);
    launch("k", 700);
    launch("another", 800);
    return 0;
  };
  REQUIRE(record_kernel(kFake, "k", launches, activity) == 0);
  CHECK(activity.missing.empty());
  REQUIRE(activity.records.size() == 2);
  const KernelRecord& second = activity.records[1];
  CHECK(second.end_ns - second.start_ns == 700);
  CHECK(second.registers_per_thread == 40);
  CHECK(second.static_shared_bytes == 1024);
  CHECK(second.dynamic_shared_bytes == 512);
  CHECK(second.local_bytes_per_thread == 16);
  CHECK(second.shared_carveout_bytes == 32768);
  CHECK(std::string(second.cache_preference) == "l1");
  launch("k", 900);  // recorded by nobody any more
  CHECK(activity.records.size() == 2);
}

TEST_CASE("a recording that has nothing to tell says so, and a failed launch is handed on") {
  KernelActivity activity;
  CHECK(record_kernel(
            kFake, "k", [] { return 700; }, activity) == 700);
  CHECK(activity.missing.find("no launch") != std::string::npos);
  KernelActivity other;
  CHECK(record_kernel("", "k", nothing, other) == 0);
  CHECK(other.missing.find("not found") != std::string::npos);
  KernelActivity third;
  CHECK(record_kernel(ASSAY_NVTX_RECORDER, "k", nothing, third) == 0);
  CHECK(third.missing.find("no activity records") != std::string::npos);
}

TEST_CASE("records are read of the versions whose beginning is known") {
  for (const std::uint32_t version : {14U, 24U, 28U, 130'000U, 130'001U, 139'999U}) {
    CHECK(knows_records(version));
  }
  for (const std::uint32_t version : {0U, 9U, 140'000U}) CHECK_FALSE(knows_records(version));
}

// CUPTI answers this without a device. Its own allocations are not ours to look after.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE(
    "an H200 has every counter of every section, and counts the default ones in nine passes") {
  const auto toolkit = node::find_toolkit(ASSAY_BINARY_FOLDER);
  if (toolkit.cupti.empty()) {
    WARN("no CUPTI here: nothing was looked up");
    return;
  }
  const cupti::Library library(toolkit.cupti.string());
  for (const auto& metrics : sessions_of(node::counters_of(node::all_sections()))) {
    const MetricPlan plan(library, "GH100", nullptr, metrics);
    CHECK(plan.refused().empty());
    CHECK(plan.passes() >= 1);
  }
  PassCounts counts(toolkit.cupti.string(), "GH100");
  const auto standard = counts.of(node::counters_of(node::default_sections()));
  REQUIRE(standard.has_value());
  CHECK(*standard <= 10);
  for (const auto& section : node::all_sections()) {
    const auto metrics = node::counters_of({section});
    if (metrics.empty()) continue;
    INFO(section);
    const auto passes = counts.of(metrics);
    REQUIRE(passes.has_value());
    CHECK(*passes >= 1);
    CHECK(*passes <= 12);
  }
}
#endif
