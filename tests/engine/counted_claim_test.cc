// What a runner says it counted, believed only as far as it can be read.
#include "engine/node/kernel_claim.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using nlohmann::json;

TEST_CASE("counters are claims: ratios over nothing are named, records are bounded and plain") {
  json body = {{"type", "profiled"},
               {"ending", "completed"},
               {"values", {{"a", 1.5}, {"b", nullptr}}},
               {"refused", {"c"}},
               {"passes", 3},
               {"missing", ""},
               {"group_passes", {{"group", 2}}},
               {"activity", {{"records", json::array()}, {"missing", "why"}}},
               {"setup_ms", 1.0},
               {"counting_ms", 2.0}};
  const auto read = [&] { return std::get<Counted>(counted_claim(body)); };
  CHECK(read().values == std::map<std::string, double>{{"a", 1.5}});
  CHECK(read().without_value == std::vector<std::string>{"b"});
  CHECK(read().group_passes.at("group") == 2);
  CHECK(read().recorded.missing == "why");
  json record = {{"ns", 500},
                 {"registers_per_thread", 40},
                 {"static_shared_bytes", 0},
                 {"dynamic_shared_bytes", 0},
                 {"local_bytes_per_thread", 0},
                 {"shared_carveout_bytes", 8192},
                 {"cache_preference", "l1"}};
  for (int i = 0; i < 1000; ++i) body["activity"]["records"].push_back(record);
  CHECK(read().recorded.ns.size() == 100);
  CHECK(read().recorded.facts.at("cache_preference") == "l1");
  CHECK(read().recorded.facts.at("shared_carveout_bytes") == 8192);
  record["cache_preference"] = std::string(10'000, 'x');
  record["ns"] = -1;
  body["activity"]["records"] = {record};
  CHECK(read().recorded.ns.empty());
  CHECK_FALSE(read().recorded.facts.contains("cache_preference"));
  const json launch = {
      {"index", 0}, {"registers", 40}, {"static_shared_bytes", 0}, {"launches_ns", {5}}};
  body["launch"] = launch;
  CHECK(read().launch->launches_ns == std::vector{5.0});
  for (const auto& [place, value] :
       std::vector<std::pair<const char*, json>>{{"/values", 7},
                                                 {"/refused", "c"},
                                                 {"/refused", {1}},
                                                 {"/passes", -3},
                                                 {"/group_passes", 2},
                                                 {"/group_passes/group", -2},
                                                 {"/setup_ms", -1},
                                                 {"/counting_ms", "long"},
                                                 {"/launch", 7},
                                                 {"/launch/index", -1},
                                                 {"/launch/registers", 1e300},
                                                 {"/launch/launches_ns", 5},
                                                 {"/launch/launches_ns", {1e300}},
                                                 {"/activity", 7}}) {
    INFO(place << " " << value.dump());
    json strange = body;
    strange[json::json_pointer(place)] = value;
    const auto claim = decode_claim(RunnerRole::gpu_kernel, [&] { return counted_claim(strange); });
    REQUIRE(std::holds_alternative<Ended>(claim));
    CHECK(std::get<Ended>(claim).detail.value("why", "") == "malformed");
  }
}
