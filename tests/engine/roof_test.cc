// The roof of a device against its data sheet, and the floor of a contract against its bytes.
#include "engine/node/roof.h"

#include <cmath>

#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

// As an H200's driver answers.
json h200() {
  return {{"name", "NVIDIA H200"},   {"compute_major", 9},     {"compute_minor", 0},
          {"multiprocessors", 132},  {"clock_khz", 1'980'000}, {"memory_clock_khz", 3'201'000},
          {"memory_bus_bits", 6144}, {"l2_bytes", 60U << 20}};
}

contract::Contract add_of(std::int64_t n) {
  const auto tensor = [&](const char* name, const char* role) {
    return json{{"name", name},
                {"type", "tensor"},
                {"role", role},
                {"tensor_spec", {{"shape", {n}}, {"dtype", "float32"}}}};
  };
  const auto parsed = contract::parse(json{{"args",
                                            {tensor("a", "input"),
                                             tensor("b", "inout"),
                                             tensor("out", "output"),
                                             {{"name", "n"}, {"type", "int"}, {"value", n}}}}});
  REQUIRE(std::holds_alternative<contract::Parsed>(parsed));
  return std::get<contract::Parsed>(parsed).contract;
}

json told_roof(const json& facts, const contract::Contract& contract,
               std::optional<double> kernel_ns) {
  return node::tell_roof(facts, node::traffic_of(facts, contract, kernel_ns));
}

}  // namespace

TEST_CASE("the roof of a known device is that of its data sheet") {
  const auto roof = node::roof_of(h200());
  REQUIRE(roof.flops_per_second.has_value());
  REQUIRE(roof.bytes_per_second.has_value());
  CHECK(std::abs(*roof.flops_per_second / 66.9e12 - 1) < 0.01);
  CHECK(std::abs(*roof.bytes_per_second / 4.8e12 - 1) < 0.03);
}

TEST_CASE("what is not known of a device is not invented") {
  json facts = h200();
  facts["compute_major"] = 42;
  CHECK_FALSE(node::roof_of(facts).flops_per_second.has_value());
  CHECK(node::roof_of(facts).bytes_per_second.has_value());
  facts["memory_clock_khz"] = 0;
  CHECK_FALSE(node::roof_of(facts).bytes_per_second.has_value());
  CHECK_FALSE(node::roof_of(json::object()).flops_per_second.has_value());
  const json told = told_roof(json::object(), add_of(8), 10.0);
  CHECK(told.at("floor").at("ns").is_null());
  CHECK(told.at("floor").at("bytes") == 8 * 4 * 4);
}

TEST_CASE("the floor counts what is read and written, a tensor that is both twice") {
  CHECK(node::least_bytes(add_of(1000)) == 4 * 4 * 1000);
}

TEST_CASE("a share of the floor is told where the L2 cannot hold the tensors") {
  const auto big = add_of(1 << 24);
  const double floor_ns = 4.0 * 4 * (1 << 24) / (2 * 3.201e9 * 6144 / 8) * 1e9;
  const json told = told_roof(h200(), big, 2 * floor_ns);
  CHECK(std::abs(told.at("floor").at("ns").get<double>() / floor_ns - 1) < 1e-9);
  CHECK(std::abs(told.at("floor").at("share_pct").get<double>() - 50) < 1e-6);
  CHECK(told_roof(h200(), big, std::nullopt).at("floor").at("share_pct").is_null());
  CHECK(told_roof(h200(), big, floor_ns / 54.72).at("floor").at("share_pct").is_null());
  CHECK(told_roof(h200(), big, floor_ns / 54.72).at("floor").at("gb_s").is_number());
  CHECK(told_roof(h200(), add_of(1000), 10.0).at("floor").at("share_pct").is_null());
}

TEST_CASE(
    "bytes in the measured time are told, and a share of small tensors from a cold run only") {
  const json told = told_roof(h200(), add_of(1 << 24), 100'000);
  CHECK(told.at("floor").at("gb_s").get<double>() == 16.0 * (1 << 24) / 100'000);
  CHECK(told_roof(h200(), add_of(1000), std::nullopt).at("floor").at("gb_s").is_null());
  const auto small = add_of(1 << 20);
  CHECK_FALSE(node::traffic_of(h200(), small, 3'500).share_pct().has_value());
  const auto cold = node::traffic_of(h200(), small, 3'500, 4'000);
  REQUIRE(cold.share_pct().has_value());  // what is read, a and b: what is written may stay
  CHECK(std::abs(*cold.share_pct() - 100 * 8.0 * (1 << 20) / 4'000 * 1e9 / *cold.roof) < 1e-9);
  CHECK(node::traffic_of(h200(), add_of(1 << 24), std::nullopt, 1e5).share_pct().has_value());
  CHECK_FALSE(node::traffic_of(json::object(), small, 3'500, 4'000).share_pct().has_value());
}
