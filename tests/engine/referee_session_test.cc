// What the engine asks of a referee ahead of what it wants. The process is the real one, on the
// host.
#include "engine/node/referee_session.h"

#include "engine/node/runners.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

contract::Contract one_input() {
  const json document = {
      {"args",
       {{{"name", "a"},
         {"type", "tensor"},
         {"role", "input"},
         {"tensor_spec", {{"shape", {1000}}, {"dtype", "float32"}, {"init", {{"kind", "randn"}}}}}},
        {{"name", "out"},
         {"type", "tensor"},
         {"role", "output"},
         {"tensor_spec", {{"shape", {1000}}, {"dtype", "float32"}}}}}},
      {"launch", {{"grid", 1}, {"block", 32}}}};
  auto parsed = contract::parse(document);
  REQUIRE(std::holds_alternative<contract::Parsed>(parsed));
  return std::get<contract::Parsed>(parsed).contract;
}

struct Bench {
  const node::Runners runners{
      ASSAY_BINARY_FOLDER "/assay-runner", {.level = confinement::Level::L1}, node::Toolkit{}};
  node::RefereeSession referee{runners.start(node::RunnerRole::referee), nullptr, {}};
  contract::Contract contract = one_input();

  std::vector<std::byte> filled(std::uint32_t trial, std::uint32_t slot) {
    auto reply = referee.fill(trial, slot);
    REQUIRE(std::holds_alternative<node::LentArena>(reply));
    auto& arena = std::get<node::LentArena>(reply);
    const auto memory = posix::SharedMemory::adopt(std::move(arena.descriptor), arena.bytes);
    const auto& place = referee.places().at(0);
    const auto input = memory.bytes().subspan(place.offset, place.bytes);
    return {input.begin(), input.end()};
  }
};

}  // namespace

TEST_CASE("a referee that was opened meanwhile gives what one opened at once gives") {
  Bench bench;
  bench.referee.begin_open(bench.contract, {}, json::object());
  REQUIRE_FALSE(bench.referee.opened());
  CHECK(bench.referee.places().size() == 2);
  CHECK(bench.referee.arena_bytes() > 8000);
}

TEST_CASE("arenas filled ahead are each trial's own, however they are taken") {
  Bench bench;
  REQUIRE_FALSE(bench.referee.open(bench.contract, {}, json::object()));
  const auto first = bench.filled(0, 0);
  const auto second = bench.filled(1, 0);
  REQUIRE(first != second);

  SECTION("in their order, with other questions in between") {
    for (std::uint32_t trial = 0; trial < 3; ++trial) bench.referee.fill_ahead(trial, trial);
    CHECK(bench.filled(0, 0) == first);
    CHECK(std::holds_alternative<json>(bench.referee.check(0)));
    CHECK(bench.filled(1, 1) == second);
    CHECK(bench.filled(2, 2) != second);
    CHECK(std::holds_alternative<std::vector<json>>(bench.referee.check(std::vector{1U, 2U})));
  }
  SECTION("the last one first") {
    for (std::uint32_t trial = 0; trial < 2; ++trial) bench.referee.fill_ahead(trial, trial);
    CHECK(bench.filled(1, 1) == second);
    CHECK(bench.filled(0, 0) == first);
  }
  SECTION("another trial than was asked ahead for that slot") {
    bench.referee.fill_ahead(0, 0);
    CHECK(bench.filled(1, 0) == second);
    CHECK(bench.filled(0, 0) == first);
  }
  SECTION("never, and the referee is opened for another job") {
    bench.referee.fill_ahead(0, 0);
    REQUIRE_FALSE(bench.referee.open(bench.contract, {}, json::object()));
    CHECK(bench.filled(0, 0) == first);
    CHECK(bench.filled(1, 0) != second);  // hidden trials are of another secret
  }
}

TEST_CASE("what one referee has compiled for a device the next is given") {
  const node::Runners runners{
      ASSAY_BINARY_FOLDER "/fake_gpu_runner", {.level = confinement::Level::L1}, node::Toolkit{}};
  const auto kernels = std::make_shared<node::RefereeKernels>("libnvrtc.so");
  for (const std::string given : {"", "compiled"}) {
    CHECK(kernels->cubin() == given);
    node::RefereeSession referee{runners.start(node::RunnerRole::gpu_referee), kernels, {}};
    REQUIRE_FALSE(referee.open(one_input(), {}, json::object()));
    CHECK(referee.arena_bytes() == given.size());
    REQUIRE_FALSE(referee.open(one_input(), {}, json::object()));  // prepared once
  }
  CHECK(kernels->cubin() == "compiled");
}

TEST_CASE(
    "a referee that cannot prepare itself on a device examines on the host, and hands nothing on") {
  const node::Runners runners{
      ASSAY_BINARY_FOLDER "/assay-runner", {.level = confinement::Level::L1}, node::Toolkit{}};
  const auto kernels = std::make_shared<node::RefereeKernels>("/nowhere/libnvrtc.so");
  node::RefereeSession referee{runners.start(node::RunnerRole::referee), kernels, {}};
  REQUIRE_FALSE(referee.open(one_input(), {}, json::object()));
  CHECK_FALSE(referee.is_on_device());
  CHECK(kernels->cubin().empty());
}
