// Timed runs as a profiler sees them: the library that it would load stands for it (nvtx_recorder).
#include "engine/runner/nvtx.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/job/record.h"
#include "engine/node/kernel_session.h"
#include "tests/catch.h"

using namespace assay;
using runner::nvtx::Range;

namespace {

struct Record {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("nvtx-" + job::new_job_id());
  ~Record() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

// The protocol knows one table per process, so each case has a process of its own. What `failure`
// answers is written to the record too.
template <class Body>
void in_process(const char* library, const Record& record, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(node::kProfilerVariable, library, 1);
    ::setenv("ASSAY_NVTX_RECORD", record.path.c_str(), 1);
    const std::string failure = body();
    if (!failure.empty()) std::ofstream(record.path, std::ios::app) << "failed: " << failure;
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

std::string open_two() {
  const Range none("");
  const Range outer("job_original");
  const Range inner("job_custom");
  return none.failure() + outer.failure() + inner.failure();
}

}  // namespace

TEST_CASE("a profiler sees a range open and close, and none that was not named") {
  const Record record;
  in_process(ASSAY_NVTX_RECORDER, record, open_two);
  CHECK(record.text() == "push job_original\npush job_custom\npop\npop\n");
}

TEST_CASE("a library that is none is told of, and costs nothing else") {
  for (const char* library : {"/no/such/library.so", ASSAY_BINARY_FOLDER "/assay-runner", ""}) {
    INFO(library);
    const Record record;
    in_process(library, record, open_two);
    CHECK(record.text().find("failed: ") == 0);
  }
}

TEST_CASE("a confined runner's runs are in the range that its session names") {
  const Record record;
  confinement::SpawnRequest request{
      .executable = ASSAY_BINARY_FOLDER "/assay-runner",
      .arguments = {"--role=kernel"},
      .environment = {{node::kProfilerVariable, ASSAY_NVTX_RECORDER},
                      {"ASSAY_NVTX_RECORD", record.path.string()}},
      .confinement = {.layers = {.level = confinement::Level::L1},
                      .profile = confinement::Profile::cpu,
                      .readable = {std::filesystem::path(ASSAY_NVTX_RECORDER).parent_path()},
                      .writable = {record.path.parent_path()}}};
  node::KernelSession session(
      std::make_unique<node::RunnerProcess>(std::move(request), node::RunnerLimits{}),
      node::RunnerRole::kernel, "/kernel", {});
  const node::KernelSource source{.kernel_type = "cuda", .kernel_name = "k", .has_contract = true};
  const auto loaded = session.load(
      source,
      {.ptx = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n"},
      source.contract, {});
  REQUIRE(std::holds_alternative<node::Loaded>(loaded));
  constexpr std::uint64_t kBytes = 4096;
  const auto memory = posix::SharedMemory::create("arena", kBytes);
  std::chrono::nanoseconds left = std::chrono::seconds(5);
  const auto run = [&] {
    const auto ran =
        session.run({.descriptor = memory.descriptor().duplicate(), .bytes = kBytes}, left);
    REQUIRE(std::holds_alternative<node::Ran>(ran));
  };
  run();
  CHECK(record.text().empty());
  session.name_range("7f_custom");
  run();
  CHECK(record.text() == "push 7f_custom\npop\n");
  CHECK(session.range_failure().empty());
}
