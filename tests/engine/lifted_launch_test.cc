// Of a lifted sequence's launches: which one counters are of, and what is said of it.
#include "engine/node/lifted_launch.h"

#include <limits>

#include "engine/node/sanitizer_checks.h"
#include "engine/runner/stepped_sequence.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using nlohmann::json;

namespace {

json launch(unsigned grid, unsigned block, unsigned shared) {
  return {
      {"do", "launch"}, {"grid", {grid, 2, 1}}, {"block", {block, 1, 1}}, {"shared_bytes", shared}};
}

LiftedSequence two_launches() {
  return {.body = {{"steps", {launch(10, 64, 0), {{"do", "copy"}}, launch(3, 256, 512)}}},
          .kernels = {"first", "second"},
          .scratch = {100},
          .scratch_begins = {4096}};
}

}  // namespace

TEST_CASE("the launch that was counted is named with its share of the time, and its own facts") {
  const auto found = lifted_launch(
      two_launches(),
      {.index = 1, .registers = 40, .static_shared_bytes = 16, .launches_ns = {100, 300}});
  REQUIRE(found);
  CHECK(found->facts.grid_blocks == 6);
  CHECK(found->facts.block_threads == 256);
  CHECK(found->facts.registers_per_thread == 40);
  CHECK(found->facts.shared_bytes_per_block == 528);
  CHECK(found->alone_ns == 300);
  CHECK(found->told ==
        json{{"launches", 2},
             {"launch", {{"index", 1}, {"kernel", "second"}, {"ns", 300.0}, {"share_pct", 75.0}}}});
}

TEST_CASE("of a single launch nothing was timed apart") {
  LiftedSequence one = two_launches();
  one.body["steps"].erase(2);
  one.kernels.pop_back();
  const auto found = lifted_launch(one, {.index = 0, .registers = 8});
  REQUIRE(found);
  CHECK_FALSE(found->alone_ns);
  CHECK(found->told == json{{"launches", 1}, {"launch", {{"index", 0}, {"kernel", "first"}}}});
}

TEST_CASE("what a runner says of launches that are not there is not told") {
  const auto told = [](std::size_t index, std::vector<double> ns) {
    return lifted_launch(two_launches(), {.index = index, .launches_ns = std::move(ns)})
        .has_value();
  };
  CHECK(told(0, {1, 1}));
  CHECK_FALSE(told(2, {1, 1}));
  CHECK_FALSE(told(0, {}));
  CHECK_FALSE(told(0, {1}));
  CHECK_FALSE(told(0, {1, 2, 3}));
  CHECK_FALSE(told(0, {-1, 2}));
  CHECK_FALSE(told(0, {std::numeric_limits<double>::quiet_NaN(), 2}));
  CHECK(lifted_launch(two_launches(), {.index = 0, .launches_ns = {0, 0}})
            ->told.at("launch")
            .at("share_pct")
            .is_null());
}

TEST_CASE("the heaviest launch is that of the greatest median, the first of equals") {
  using runner::heaviest;
  using runner::medians_of;
  CHECK(medians_of({{1, 9}, {2, 8}, {90, 7}}) == std::vector<double>{2, 8});
  CHECK(heaviest({2, 8, 8, 1}) == 1);
  CHECK(heaviest({}) == 0);
  CHECK(medians_of({}).empty());
}

TEST_CASE("compute-sanitizer is shown each tensor and buffer where the sequence has it") {
  contract::Contract contract;
  contract.args = {{.name = "x", .tensor_spec = contract::TensorSpec{.shape = {4}}},
                   {.name = "y",
                    .tensor_spec = contract::TensorSpec{.shape = {4}},
                    .role = contract::Role::output}};
  const std::vector<TensorPlace> places{{.name = "x", .argument = 0, .offset = 256, .bytes = 16},
                                        {.name = "y", .argument = 1, .offset = 512, .bytes = 16}};
  std::vector<TensorPlace> host = places;
  host[0].offset = 1024;
  const auto work = sanitized_sequence(two_launches(), contract, places, host);
  CHECK(work.obstacle.empty());
  CHECK(work.order.at("arguments").at(0) == json{{"name", "x"},
                                                 {"type", "tensor"},
                                                 {"offset", 256},
                                                 {"bytes", 16},
                                                 {"from", 1024},
                                                 {"uninitialised", false}});
  CHECK(work.order.at("arguments").at(1).at("uninitialised") == true);
  CHECK(work.order.at("scratch") == json::array({json::array({4096, 100})}));
  CHECK(work.order.at("steps").size() == 3);
  host.pop_back();
  CHECK_FALSE(sanitized_sequence(two_launches(), contract, places, host).obstacle.empty());
}
