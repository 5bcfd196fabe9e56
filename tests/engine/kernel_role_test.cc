// The kernel runner's role on a fake device: what it asks of a device and what it tells the engine.
#include <bit>
#include <cmath>
#include <limits>

#include "engine/node/kernel_claim.h"
#include "engine/runner/role.h"
#include "tests/catch.h"
#include "tests/engine/fake_device.h"
#include "tests/engine/served_role.h"

using namespace assay;
using nlohmann::json;
using runner::FakeDevice;

namespace {

emulator::KernelInfo kernel_with(const std::vector<std::string>& types) {
  emulator::KernelInfo kernel{.name = "k"};
  for (const auto& type : types) {
    const std::size_t bytes = type.ends_with("64") ? 8 : 4;
    const std::size_t offset = (kernel.parameter_bytes + bytes - 1) / bytes * bytes;
    kernel.parameters.push_back(
        {.type = type, .size_bytes = bytes, .align_bytes = bytes, .offset_bytes = offset});
    kernel.parameter_bytes = offset + bytes;
  }
  return kernel;
}

json tensor(const char* name, std::size_t offset, std::size_t bytes) {
  return {{"name", name}, {"type", "tensor"}, {"offset", offset}, {"bytes", bytes}};
}

json number(double value) {
  return {{"name", "x"}, {"type", "float"}, {"bits", std::bit_cast<std::uint64_t>(value)}};
}

}  // namespace

TEST_CASE("a tensor is the device's arena at the contract's offset, and its bytes are shared") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({"u64", "u64"})};
  device.writes = std::byte{42};
  const json arguments = {tensor("in", 0, 16), tensor("out", 32, 16)};
  const auto arena = posix::SharedMemory::create("arena", 64);
  ServedRole served(device);
  CHECK(served.load(arguments).at("misfits").empty());
  CHECK(served.run(arguments, arena).at("ending") == "completed");
  CHECK(device.buffer_names == std::vector<std::string>{"in", "out"});
  CHECK(device.buffer_addresses ==
        std::vector<std::uint64_t>{FakeDevice::kArena, FakeDevice::kArena + 32});
  std::uint64_t second = 0;
  std::memcpy(&second, device.launches.at(0).parameters.data() + 8, 8);
  CHECK(second == FakeDevice::kArena + 32);
  CHECK(arena.bytes()[32] == std::byte{42});
}

TEST_CASE("floats arrive bit for bit, NaN and infinity too") {
  for (const double value : {0.1, -0.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    FakeDevice device;
    device.answer = std::vector{kernel_with({"f64"})};
    const json arguments = {number(value)};
    const auto arena = posix::SharedMemory::create("arena", 8);
    ServedRole served(device);
    served.load(arguments);
    served.run(arguments, arena);
    std::uint64_t bits = 0;
    std::memcpy(&bits, device.launches.at(0).parameters.data(), 8);
    CHECK(bits == std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("a program that the device refuses is unloadable, with its line") {
  FakeDevice device;
  device.answer = emulator::ParseError{.ptx_line = 7, .message = "no such thing"};
  ServedRole served(device);
  const json reply = served.load(json::array());
  CHECK(reply.at("type") == "unloadable");
  CHECK(reply.at("ptx_line") == 7);
}

TEST_CASE("how a launch ended is told as the device said it") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({})};
  device.outcome = {.ending = emulator::Ending::faulted,
                    .message = "out of bounds",
                    .fault = {.kind = emulator::FaultKind::misaligned, .address = 4711},
                    .printf_output = "said",
                    .printf_truncated = true};
  const auto arena = posix::SharedMemory::create("arena", 8);
  ServedRole served(device);
  served.load(json::array());
  const json reply = served.run(json::array(), arena);
  CHECK(reply.at("ending") == "faulted");
  CHECK(reply.at("fault").at("kind") == emulator::name(emulator::FaultKind::misaligned));
  CHECK(reply.at("fault").at("address") == 4711);
  CHECK(reply.at("printf") == "said");
  CHECK(reply.at("printf_truncated") == true);
}

TEST_CASE("a fresh module is asked of the device only when the engine wants one") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({})};
  const auto arena = posix::SharedMemory::create("arena", 8);
  ServedRole served(device);
  served.load(json::array());
  served.run(json::array(), arena);
  CHECK(device.reloads == 0);
  served.run(json::array(), arena, true);
  CHECK(device.reloads == 1);
}

TEST_CASE("arguments that do not fit are named, and nothing is launched") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({"u64", "f32"})};
  ServedRole served(device);
  const json reply = served.load(json::array({tensor("a", 0, 4)}));
  CHECK(reply.at("misfits").size() == 1);
  CHECK(device.launches.empty());
}

TEST_CASE("an engine that breaks the protocol is our fault, never a launch") {
  const json outside = {tensor("a", 60, 16)};
  const auto arena = posix::SharedMemory::create("arena", 64);
  FakeDevice device;
  device.answer = std::vector{kernel_with({"u64"})};
  {
    ServedRole served(device);
    served.load(outside);
    CHECK(served.run(outside, arena).is_null());
    CHECK(served.end() == "tensor outside the arena");
  }
  {
    ServedRole served(device);
    CHECK(served.run(outside, arena).is_null());
    CHECK(served.end() == "run without a loaded kernel");
  }
  {
    ServedRole served(device);
    served.load(outside);
    CHECK(served.ask({{"type", "run"}, {"arena_bytes", 64}}).is_null());
    CHECK(served.end() == "run without an arena");
  }
  CHECK(device.launches.empty());
}

TEST_CASE("graphs are made ready for what is asked next, and a capture that failed is told") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({"u64"})};
  device.clock = true;
  const json arguments = {tensor("in", 0, 16)};
  const auto arena = posix::SharedMemory::create("arena", 64);
  const auto turn = [](std::size_t repeats) -> json {
    return {{"view", "graph"},
            {"warmups", 1},
            {"fresh_module", false},
            {"tell_state", false},
            {"precise", false},
            {"tell_neighbours", false},
            {"ramp_below_mhz", 0},
            {"typical_ns", 5'000},
            {"renews_each", false},
            {"digests", false},
            {"runs", json(repeats, json::array({0, 0, false, false}))}};
  };
  json launch = {{"grid", {2, 1, 1}}, {"block", {32, 1, 1}}, {"shared_bytes", 0}};
  launch["arguments"] = arguments;
  launch["wall_ns"] = 1'000'000'000;
  ServedRole served(device);
  REQUIRE(served.load(arguments).at("type") == "loaded");
  std::vector<posix::Descriptor> lent;
  lent.push_back(arena.descriptor().duplicate());
  const json staging = {{"type", "stage"},
                        {"arena_bytes", 64},
                        {"on_device", false},
                        {"places", 1},
                        {"scratch_bytes", 0}};
  REQUIRE(served.ask(staging, {}, std::move(lent)).at("type") == "staged");
  launch["type"] = "capture";
  launch["turn"] = turn(2);
  CHECK(served.ask(launch) == json{{"type", "captured"}, {"note", "no reason"}});
  launch["type"] = "time";
  launch["turns"] = {turn(3)};
  CHECK(served.ask(launch).at("turns").size() == 1);
  CHECK(device.plans ==
        std::vector<std::pair<std::string, std::size_t>>{{"capture", 2}, {"time", 3}});
}

TEST_CASE("what makes a runner ready to count is not answered, and what it counted is told") {
  FakeDevice device;
  device.answer = std::vector{kernel_with({"u64"})};
  device.profiled.readings = {
      .values = {{"a.sum", 7}, {"b.pct", std::nan("")}}, .refused = {"c.sum"}, .passes = 3};
  device.profiled.group_passes = {{"group", 2}};
  const json arguments = {tensor("in", 0, 16)};
  const auto arena = posix::SharedMemory::create("arena", 64);
  ServedRole served(device);
  served.post({{"type", "ready_counters"}, {"library", "l"}, {"groups", {{"group", {"a.sum"}}}}});
  CHECK(served.load(arguments).at("type") == "loaded");
  CHECK(device.readied.groups.at("group") == std::vector<std::string>{"a.sum"});
  json order = {{"library", "l"},
                {"metrics", {"a.sum", "b.pct", "c.sum"}},
                {"groups", {{"group", {"a.sum"}}}}};
  json told = served.profile(arguments, arena, order);
  CHECK(told.at("values") == json{{"a.sum", 7.0}, {"b.pct", nullptr}});
  CHECK(told.at("refused") == json{"c.sum"});
  CHECK(told.at("group_passes").at("group") == 2);
  CHECK(told.at("activity").at("records").empty());
  device.profiled = {.readings = {.missing = "no right"}};
  device.profiled.activity.records = {
      {.start_ns = 10, .end_ns = 30, .registers_per_thread = 40, .cache_preference = "l1"}};
  told = served.profile(arguments, arena, order);
  CHECK(told.at("missing") == "no right");
  CHECK(told.at("activity").at("records").at(0).at("ns") == 20);
  CHECK(told.at("activity").at("records").at(0).at("cache_preference") == "l1");
}

TEST_CASE("of a sequence the launch that was counted is told beside its counters") {
  FakeDevice device;
  device.profiled.launch = {
      .index = 1, .registers = 32, .static_shared_bytes = 64, .launches_ns = {5, 9}};
  device.profiled.readings.values = {{"one", 1.5}, {"none", std::nan("")}};
  ServedRole served(device);
  const json sequence = {{"type", "load_sequence"},
                         {"programs", json::array()},
                         {"scratch_begin", 0},
                         {"memory_bytes", 64},
                         {"steps", json::array()}};
  REQUIRE(served.ask(sequence).at("type") == "loaded_sequence");
  const auto arena = posix::SharedMemory::create("arena", 64);
  std::vector<posix::Descriptor> lent;
  lent.push_back(arena.descriptor().duplicate());
  const json order = {{"type", "profile"},        {"arena_bytes", 64},
                      {"library", "libcupti.so"}, {"metrics", {"one", "none"}},
                      {"groups", json::object()}, {"limit_ns", 7'000}};
  const json reply = served.ask(order, {}, std::move(lent));
  CHECK(device.readied.limit == std::chrono::microseconds(7));
  CHECK(device.readied.metrics == std::vector<std::string>{"one", "none"});
  CHECK(reply.at("values") == json{{"one", 1.5}, {"none", nullptr}});
  const auto counted = node::counted_claim(reply);
  const auto* good = std::get_if<node::Counted>(&counted);
  REQUIRE(good != nullptr);
  REQUIRE(good->launch);
  CHECK(good->launch->index == 1);
  CHECK(good->launch->registers == 32);
  CHECK(good->launch->launches_ns == std::vector<double>{5, 9});
}
