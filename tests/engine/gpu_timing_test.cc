// The order in which a GPU is asked for times, and what becomes of a process that failed. The
// processes are real, their device is not.
#include "engine/node/gpu_timing.h"

#include <memory>
#include <set>

#include "engine/node/runners.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

struct Bench {
  const node::Runners runners{ASSAY_BINARY_FOLDER "/fake_timing_runner",
                              {.level = confinement::Level::L1},
                              node::Toolkit{}};
  node::RefereeSession referee{runners.start(node::RunnerRole::referee), "", {}};
  std::unique_ptr<node::KernelSession> kernel = session();
  std::unique_ptr<node::KernelSession> reference{};
  std::vector<bool> renewed{};          // of the reference, or of the kernel
  std::vector<std::uint32_t> judged{};  // trials
  json findings = json::array();
  std::chrono::nanoseconds left = std::chrono::seconds(60);

  std::unique_ptr<node::KernelSession> session() const {
    return std::make_unique<node::KernelSession>(runners.start(node::RunnerRole::kernel),
                                                 node::RunnerRole::gpu_kernel, "/kernel",
                                                 std::stop_token());
  }

  node::TimingRequest request(std::uint32_t trials, std::uint64_t bytes = 4096) {
    return {.trials = trials,
            .known_trials = 3,
            .arena_bytes = bytes,
            .fill = [bytes](std::uint32_t,
                            std::uint32_t) -> std::variant<node::LentArena, node::Ended> {
              return node::LentArena{.descriptor = posix::make_event(), .bytes = bytes};
            },
            .renew = [this](bool is_reference) -> std::variant<node::KernelSession*, node::Ended> {
              renewed.push_back(is_reference);
              auto& side = is_reference ? reference : kernel;
              side = session();
              return side.get();
            }};
  }

  json measure(node::TimingRequest wanted, std::optional<node::Ended>& ended) {
    node::GpuTiming timing(
        referee, *kernel, reference.get(), std::move(wanted),
        [&](std::uint32_t trial, const json& said) -> node::GpuTiming::Step {
          if (said.is_object()) {
            findings.push_back(said.at("findings").at(0));
          } else {
            judged.push_back(trial);
          }
          return std::nullopt;
        },
        left);
    json body = json::object();
    ended = timing.measure(body);
    body["unrepeatable"] = timing.is_unrepeatable();
    return body;
  }
};

bool warns(const json& body, const std::string& code) {
  for (const auto& warning : body.at("warnings")) {
    if (warning.at("code") == code) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a failed graph capture is told, and what follows is asked of a fresh process") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.renewed == std::vector<bool>{false});
  CHECK(body.at("views").at("graph").at("unavailable") == "graph capture failed: no reason");
  CHECK(body.at("views").at("warm").contains("median_ns"));
  CHECK(warns(body, "graph_failed"));
  CHECK(body.contains("shown_anew_ns"));  // asked after it: the old process would have ended
  CHECK(body.at("samples_ns").size() >= 100);
}

TEST_CASE("a kernel that is far faster on what a launch has left than on fresh tensors is told") {
  constexpr std::uint64_t kLeaningBytes = 8192;  // fake_timing_runner.cc
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kLeaningBytes), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "leans_on_outputs");
  CHECK(bench.findings[0].at("fresh_ns") == 80'000);
  CHECK(bench.findings[0].at("repeated_ns") == 1'000);

  Bench many;  // a host that queues them one by one may take as long
  auto of_many = many.request(100, kLeaningBytes);
  of_many.launches = 20;
  static_cast<void>(many.measure(std::move(of_many), ended));
  CHECK(many.findings.empty());

  Bench meant;  // it works on what it is given
  auto request = meant.request(100, kLeaningBytes);
  request.has_inout = true;
  static_cast<void>(meant.measure(std::move(request), ended));
  CHECK(meant.findings.empty());
}

TEST_CASE("both sides of a comparison go on in fresh processes, and it is made of cold runs") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(50), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.renewed == std::vector<bool>{true, false});
  CHECK(body.at("speedup").at("basis") == "cold");
  CHECK(body.at("speedup").at("ratio") == 1.0);
}

TEST_CASE("where no fresh process can be had, nothing more is asked of one whose capture failed") {
  Bench bench;
  auto request = bench.request(30);
  request.renew = nullptr;
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(warns(body, "graph_failed"));
  CHECK_FALSE(body.contains("shown_anew_ns"));
  CHECK(body.at("unrepeatable") == true);
}

TEST_CASE("whose fresh process cannot be had is said") {
  Bench bench;
  auto request = bench.request(30);
  request.renew = [](bool) -> std::variant<node::KernelSession*, node::Ended> {
    return node::Ended{.verdict = job::Verdict::out_of_memory, .summary = "no memory"};
  };
  std::optional<node::Ended> ended;
  static_cast<void>(bench.measure(std::move(request), ended));
  REQUIRE(ended);
  CHECK(ended->verdict == job::Verdict::out_of_memory);
  CHECK(ended->detail.at("which") == "kernel");
}

TEST_CASE("three timed runs are examined, each with contents of its own, however few are timed") {
  for (const std::uint32_t trials : {1U, 2U, 3U, 10U, 100U}) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(trials), ended);
    REQUIRE_FALSE(ended);
    CAPTURE(trials);
    CHECK(bench.judged.size() == std::min(trials, 3U));
    CHECK(std::set(bench.judged.begin(), bench.judged.end()).size() == bench.judged.size());
    CHECK(body.at("runs_examined") == std::min(trials, 3U));
  }
}

TEST_CASE("a kernel that keeps state is examined in twelve turns of their own") {
  Bench bench;
  auto request = bench.request(100);
  request.keeps_state = true;
  std::optional<node::Ended> ended;
  CHECK(bench.measure(std::move(request), ended).at("runs_examined") == 12);
  CHECK_FALSE(ended);
  for (std::size_t i = 1; i < bench.judged.size(); ++i) {
    CHECK(bench.judged[i] != bench.judged[i - 1]);
  }
}
