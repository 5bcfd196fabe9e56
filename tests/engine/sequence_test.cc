// A sequence in the kernel's runner, on the emulator: several programs in order on one stretch of
// memory, and what of a sequence is refused.
#include "engine/runner/sequence.h"

#include <cstring>

#include "engine/posix/descriptor.h"
#include "engine/runner/device.h"
#include "tests/catch.h"
#include "tests/engine/served_role.h"

using namespace assay;
using nlohmann::json;

namespace {

// y[i] = x[i] + n for each thread.
constexpr std::string_view kAdd = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%rd5], %r3;
  ret;
}
)";

struct Block {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint32_t n = 0;
};

// Arena of 16 numbers; 16 more of scratch behind it.
struct Work {
  json body = {{"type", "load_sequence"},
               {"programs", {kAdd.size()}},
               {"scratch_begin", 64},
               {"memory_bytes", 128},
               {"steps", json::array()}};
  std::string blob{kAdd};

  void add(std::uint64_t from, std::uint64_t to, std::uint32_t n) {
    const Block block{.x = from, .y = to, .n = n};
    blob.append(reinterpret_cast<const char*>(&block), 20);
    body["steps"].push_back({{"do", "launch"},
                             {"program", 0},
                             {"entry", "add"},
                             {"grid", {1, 1, 1}},
                             {"block", {8, 1, 1}},
                             {"shared_bytes", 0},
                             {"parameter_bytes", 20},
                             {"pointers", {0, 8}},
                             {"traits", json::array()}});
  }
};

std::vector<std::uint32_t> numbers(const posix::SharedMemory& arena) {
  std::vector<std::uint32_t> list(arena.bytes().size() / 4);
  std::memcpy(list.data(), arena.bytes().data(), arena.bytes().size());
  return list;
}

}  // namespace

TEST_CASE("steps are done in order on one memory, scratch begins as zero") {
  const auto device = runner::make_emulator_device();
  ServedRole role(*device);
  Work work;
  work.add(0, 64, 1);  // scratch = x + 1
  work.body["steps"].push_back({{"do", "copy"}, {"to", 96}, {"from", 64}, {"bytes", 16}});
  work.body["steps"].push_back(
      {{"do", "fill"}, {"to", 64}, {"value", 7}, {"width", 4}, {"bytes", 8}});
  work.add(64, 32, 100);  // y = scratch + 100
  REQUIRE(role.ask(work.body, work.blob).at("type") == "loaded_sequence");
  const auto arena = posix::SharedMemory::create("arena", 64);
  std::uint32_t x[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  for (int round = 0; round < 2; ++round) {
    std::memcpy(arena.bytes().data(), x, sizeof x);
    const json ran = role.run(json::array(), arena);
    REQUIRE(ran.at("ending") == "completed");
    const auto got = numbers(arena);
    CHECK(std::vector<std::uint32_t>(got.begin(), got.begin() + 8) ==
          std::vector<std::uint32_t>(x, x + 8));
    CHECK(std::vector<std::uint32_t>(got.begin() + 8, got.end()) ==
          std::vector<std::uint32_t>{107, 107, 131, 141, 151, 161, 171, 181});
    for (auto& one : x) one += 0;
  }
}

TEST_CASE("scratch of a run tells the next nothing") {
  const auto device = runner::make_emulator_device();
  ServedRole role(*device);
  Work work;
  work.add(64, 32, 5);  // y = scratch + 5, which nobody wrote
  work.add(0, 64, 0);   // scratch = x
  REQUIRE(role.ask(work.body, work.blob).at("type") == "loaded_sequence");
  const auto arena = posix::SharedMemory::create("arena", 64);
  for (int round = 0; round < 2; ++round) {
    const std::uint32_t x = 9;
    std::memcpy(arena.bytes().data(), &x, sizeof x);
    REQUIRE(role.run(json::array(), arena).at("ending") == "completed");
    CHECK(numbers(arena)[8] == 5);
  }
}

TEST_CASE("a launch beside the memory is a fault, not ours") {
  const auto device = runner::make_emulator_device();
  ServedRole role(*device);
  Work work;
  work.add(0, 4096, 1);
  REQUIRE(role.ask(work.body, work.blob).at("type") == "loaded_sequence");
  const auto arena = posix::SharedMemory::create("arena", 64);
  CHECK(role.run(json::array(), arena).at("ending") == "faulted");
  CHECK(role.end().empty());
}

TEST_CASE("a program that is none is unloadable, and the role goes on") {
  const auto device = runner::make_emulator_device();
  ServedRole role(*device);
  Work work;
  work.body["programs"] = {4};
  work.blob = "junk";
  const json said = role.ask(work.body, work.blob);
  CHECK(said.at("type") == "unloadable");
  CHECK_FALSE(said.at("message").get<std::string>().empty());
  CHECK(role.ask({{"type", "reset"}}).at("type") == "kept");
}

TEST_CASE("a sequence keeps to what it says of itself") {
  Work good;
  good.add(0, 64, 1);
  good.body["steps"].push_back({{"do", "copy"}, {"to", 96}, {"from", 64}, {"bytes", 16}});
  CHECK(runner::decode_sequence(good.body, good.blob).steps.size() == 2);
  const auto throws = [&](const char* pointer, const json& value) {
    json body = good.body;
    body[json::json_pointer(pointer)] = value;
    CHECK_THROWS_AS(runner::decode_sequence(body, good.blob), std::runtime_error);
  };
  throws("/steps/0/program", 1);
  throws("/steps/0/pointers", {16});
  throws("/steps/0/parameter_bytes", 21);
  throws("/steps/1/to", 120);
  throws("/steps/1/from", ~std::uint64_t{0});
  throws("/steps/1/bytes", ~std::uint64_t{0});
  throws("/steps/1/do", "jump");
  throws("/scratch_begin", 256);
  throws("/memory_bytes", 65);
  throws("/programs", {kAdd.size() + 100});
}
