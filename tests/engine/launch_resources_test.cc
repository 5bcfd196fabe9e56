// What a launch takes of a multiprocessor, from the assembler's listing and the contract's launch.
#include "engine/node/launch_resources.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using nlohmann::json;

namespace {

Program listed(unsigned registers, std::uint64_t spills = 0) {
  Program program;
  program.kernels = {{{"symbol", "other"}},
                     {{"symbol", "k"},
                      {"resources",
                       {{"registers", registers},
                        {"stack_bytes", 0},
                        {"spill_store_bytes", spills},
                        {"spill_load_bytes", spills},
                        {"static_shared_bytes", 1024}}}}};
  return program;
}

KernelSource launched(unsigned threads) {
  KernelSource source;
  source.contract.launch = contract::LaunchConfig{.grid = contract::LaunchDim{.x = 1056},
                                                  .block = contract::LaunchDim{.x = threads},
                                                  .shared_mem_bytes = 512};
  return source;
}

const Gpu kGpu{.compute_major = 9, .compute_minor = 0, .facts = {{"multiprocessors", 132}}};

}  // namespace

TEST_CASE("registers, spills, occupancy and what limits it are known before a run") {
  const json told = tell_launch(launched(256), listed(128, 8), "k", kGpu);
  CHECK(told.at("registers") == 128);
  CHECK(told.at("spill_store_bytes") == 8);
  CHECK(told.at("static_shared_bytes") == 1024);
  CHECK(told.at("dynamic_shared_bytes") == 512);
  CHECK(told.at("occupancy").at("percent") == 25.0);
  CHECK(told.at("occupancy").at("limited_by") == json{"registers"});
  CHECK(told.at("occupancy").at("waves") == 4.0);
}

TEST_CASE("what no assembler has told is not invented") {
  CHECK(tell_launch(launched(256), listed(128), "other", kGpu).is_null());
  CHECK(tell_launch(launched(256), Program{}, "k", kGpu).is_null());
  const Gpu unknown{.compute_major = 42, .compute_minor = 0, .facts = json::object()};
  const json told = tell_launch(launched(256), listed(32), "k", unknown);
  CHECK(told.at("registers") == 32);
  CHECK(told.at("occupancy").contains("unknown"));
}
