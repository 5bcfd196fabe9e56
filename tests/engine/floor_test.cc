// The floor under a kernel's times: what is told of it, and what is held against a kernel.
#include "engine/node/floor.h"

#include <cmath>

#include "engine/node/roof.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

constexpr std::uint64_t kL2 = 60U << 20;

json h200() {
  return {{"compute_major", 9},
          {"compute_minor", 0},
          {"memory_clock_khz", 3'201'000},
          {"memory_bus_bits", 6144},
          {"l2_bytes", kL2}};
}

json tensor(const char* name, const char* role, std::int64_t n) {
  return {{"name", name},
          {"type", "tensor"},
          {"role", role},
          {"tensor_spec", {{"shape", {n}}, {"dtype", "float32"}}}};
}

contract::Contract of(json args) {
  const auto parsed = contract::parse(json{{"args", std::move(args)}});
  REQUIRE(std::holds_alternative<contract::Parsed>(parsed));
  return std::get<contract::Parsed>(parsed).contract;
}

constexpr std::int64_t kMany = 1 << 26;  // 256 MiB of floats
contract::Contract copy_of_many() {
  return of({tensor("in", "input", kMany), tensor("out", "output", kMany)});
}

double rate() { return *node::roof_of(h200()).bytes_per_second * 1e-9; }

}  // namespace

TEST_CASE("only outputs beyond the L2 must have gone to the memory") {
  const auto floor = node::floor_of(h200(), copy_of_many(), true);
  CHECK(floor.bytes == 8 * std::uint64_t{kMany});
  CHECK(floor.must_bytes == 4 * std::uint64_t{kMany} - kL2);
  REQUIRE(floor.must_ns);
  CHECK(std::abs(*floor.must_ns - static_cast<double>(floor.must_bytes) / rate()) < 1);
  CHECK(node::is_below(floor, 0.7 * *floor.must_ns));
  CHECK_FALSE(node::is_below(floor, 0.85 * *floor.must_ns));
  CHECK_FALSE(node::is_below(floor, *floor.ns));
}

TEST_CASE("an output that begins with contents need not be written, and is no floor") {
  json zeroed = tensor("out", "output", kMany);
  zeroed["tensor_spec"]["init"] = {{"kind", "zeros"}};
  const auto floor = node::floor_of(h200(), of({tensor("in", "input", 64), zeroed}), true);
  CHECK(floor.must_bytes == 0);
  CHECK_FALSE(node::is_below(floor, 1));
}

TEST_CASE("a kernel that reads a part of its inputs is not accused, however fast it is") {
  // A gather: a table of 256 MiB of which a thousand rows are read.
  const auto gather = of({tensor("table", "input", kMany), tensor("out", "output", 1000)});
  const auto floor = node::floor_of(h200(), gather, true);
  CHECK(floor.must_bytes == 0);
  CHECK_FALSE(node::is_below(floor, 1));
  // What it adds to is written where it adds.
  const auto scatter = of({tensor("sums", "inout", kMany), tensor("at", "input", 1000)});
  CHECK_FALSE(node::is_below(node::floor_of(h200(), scatter, true), 1));
}

TEST_CASE("outputs that fit the L2, or that nobody saw written, are no floor") {
  const auto small = of(json::array({tensor("out", "output", kL2 / 4)}));
  CHECK(node::floor_of(h200(), small, true).must_bytes == 0);
  CHECK_FALSE(node::is_below(node::floor_of(h200(), copy_of_many(), false), 1));
}

TEST_CASE("a memory whose rate is not known for sure accuses nobody") {
  json facts = h200();
  facts["memory_clock_khz"] = 0;
  CHECK_FALSE(node::is_below(node::floor_of(facts, copy_of_many(), true), 1));
  facts = h200();
  facts.erase("l2_bytes");
  CHECK_FALSE(node::is_below(node::floor_of(facts, copy_of_many(), true), 1));
  facts = h200();
  facts["compute_major"] = 8;  // Orin: the host's memory
  facts["compute_minor"] = 7;
  CHECK_FALSE(node::is_below(node::floor_of(facts, copy_of_many(), true), 1));
  CHECK_FALSE(node::is_below(node::floor_of(json::object(), copy_of_many(), true), 1));
}

TEST_CASE("the share of the floor is told where tensors do not stay in the L2") {
  const auto floor = node::floor_of(h200(), copy_of_many(), true);
  const json told = node::tell(floor, 2 * *floor.ns);
  CHECK(std::abs(told.at("share_pct").get<double>() - 50) < 1e-9);
  CHECK(told.at("must_bytes") == floor.must_bytes);
  CHECK(node::tell(floor, std::nullopt).at("share_pct").is_null());
  // Who is that much faster does not touch all of its tensors.
  CHECK(node::tell(floor, *floor.ns / 1.04).at("share_pct").is_number());
  CHECK(node::tell(floor, *floor.ns / 54.72).at("share_pct").is_null());
  const auto small = node::floor_of(h200(), of(json::array({tensor("out", "output", 1000)})), true);
  CHECK(node::tell(small, 100.0).at("share_pct").is_null());
  CHECK(node::tell(node::Floor{}, 100.0).at("ns").is_null());
}
