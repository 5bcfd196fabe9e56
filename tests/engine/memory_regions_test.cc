// Which memory a kernel may touch, and which of it nobody has written.
#include "engine/python/memory_regions.h"

#include <array>
#include <cstring>

#include "tests/catch.h"

using namespace assay;
using python::MemoryRegions;

namespace {

constexpr std::uint64_t kPattern = 0x3F8A'BCDE'3F81'2345;

struct Memory {
  std::array<std::byte, 30> bytes{};
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(bytes.data());
  }
};

}  // namespace

TEST_CASE("what overlaps something older takes its place") {
  MemoryRegions regions;
  regions.add(1000, 100, "a");
  regions.add(1100, 50, "b");
  regions.add(1090, 20, "c");
  auto buffers = regions.buffers();
  REQUIRE(buffers.size() == 1);
  CHECK((buffers[0].address == 1090 && buffers[0].name == "c"));
  regions.add(2000, 0);
  regions.remove(1090);
  CHECK(regions.buffers().empty());
}

TEST_CASE("a region without a name is called by the argument that points into it") {
  MemoryRegions regions;
  regions.add(1000, 100, "x");
  regions.add(2000, 100);
  regions.add(3000, 100);
  const auto buffers = regions.buffers({7, 1000, 2099, 3100});
  CHECK(buffers[0].name == "x");
  CHECK(buffers[1].name == "argument 2");
  CHECK(buffers[2].name.empty());
}

TEST_CASE(
    "allocated memory is uninitialised until anything of it is written, where that is watched") {
  Memory memory;
  MemoryRegions regions;
  regions.add_allocated(memory.address(), memory.bytes.size());
  CHECK(regions.buffers().at(0).initialised);
  CHECK(memory.bytes[3] == std::byte{0});  // as it was

  regions.watch_contents(kPattern);
  CHECK(regions.buffers().at(0).initialised);  // it was there before
  regions.add_allocated(memory.address(), memory.bytes.size());
  CHECK_FALSE(regions.buffers().at(0).initialised);
  CHECK_FALSE(regions.buffers().at(0).initialised);
  memory.bytes[29] ^= std::byte{1};
  CHECK(regions.buffers().at(0).initialised);
  memory.bytes[29] ^= std::byte{1};
  CHECK(regions.buffers().at(0).initialised);  // written is written
}

TEST_CASE("what is lent holds something unless it is said to hold nothing") {
  Memory memory;
  MemoryRegions regions;
  regions.watch_contents(kPattern);
  regions.add(memory.address(), memory.bytes.size(), "y");
  CHECK(regions.buffers().at(0).initialised);
  CHECK(memory.bytes[0] == std::byte{0});
  regions.forget_contents(memory.address() + 1);  // nothing begins there
  CHECK(regions.buffers().at(0).initialised);
  regions.forget_contents(memory.address());
  const auto buffers = regions.buffers();
  CHECK_FALSE(buffers.at(0).initialised);
  CHECK(buffers[0].name == "y");
  CHECK(std::memcmp(memory.bytes.data(), &kPattern, sizeof kPattern) == 0);
}

TEST_CASE("of too few bytes nothing is said, because numbers look like anything") {
  Memory memory;
  MemoryRegions regions;
  regions.watch_contents(kPattern);
  regions.add_allocated(memory.address(), 3);
  CHECK(regions.buffers().at(0).initialised);
}
