// A sequence's memory in pieces: what was an offset is an address in the piece that it lay in.
#include "engine/runner/pieces.h"

#include <cstring>
#include <random>
#include <stdexcept>

#include "tests/catch.h"

using namespace assay::runner;

namespace {

SequenceStep launch_of(const std::vector<std::uint64_t>& pointers) {
  SequenceStep step;
  for (std::size_t i = 0; i < pointers.size(); ++i) step.pointer_offsets.push_back(8 * i);
  step.launch.parameters.resize(8 * pointers.size());
  std::memcpy(step.launch.parameters.data(), pointers.data(), 8 * pointers.size());
  return step;
}

std::uint64_t pointer(const SequenceStep& step, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, step.launch.parameters.data() + 8 * index, sizeof value);
  return value;
}

SequenceStep copy_of(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  return {.kind = SequenceStep::Kind::copy, .to = to, .from = from, .bytes = bytes};
}

// Given in any order.
const std::vector<Piece> kPieces{{.begin = 1024, .bytes = 100, .address = 0x50000},
                                 {.begin = 64, .bytes = 256, .address = 0x90000},
                                 {.begin = 512, .bytes = 0, .address = 0x10000},
                                 {.begin = 512, .bytes = 64, .address = 0x70000}};

Sequence one(SequenceStep step) {
  Sequence sequence{.memory_bytes = 2048};
  sequence.steps.push_back(std::move(step));
  return sequence;
}

}  // namespace

TEST_CASE("a pointer lies as far into its piece as it lay into the tensor") {
  const auto placed = in_pieces(one(launch_of({64, 65, 319, 512, 1024, 1123})), kPieces);
  const auto& step = placed.steps.front();
  CHECK(pointer(step, 0) == 0x90000);
  CHECK(pointer(step, 1) == 0x90001);
  CHECK(pointer(step, 2) == 0x90000 + 255);
  CHECK(pointer(step, 3) == 0x70000);
  CHECK(pointer(step, 4) == 0x50000);
  CHECK(pointer(step, 5) == 0x50000 + 99);
}

TEST_CASE("a pointer to the end of a tensor is no pointer to the next") {
  const auto placed = in_pieces(one(launch_of({64 + 256, 1024 + 100})), kPieces);
  CHECK(pointer(placed.steps.front(), 0) == 0x90000 + 256);
  CHECK(pointer(placed.steps.front(), 1) == 0x50000 + 100);
}

TEST_CASE("a number that is no pointer stays") {
  SequenceStep step = launch_of({64, 64});
  step.pointer_offsets.pop_back();
  CHECK(pointer(in_pieces(one(step), kPieces).steps.front(), 1) == 64);
}

TEST_CASE("copies and fills lie in one piece or are refused") {
  const auto placed = in_pieces(one(copy_of(64, 1024, 100)), kPieces);
  CHECK(placed.steps.front().to == 0x90000);
  CHECK(placed.steps.front().from == 0x50000);
  CHECK_THROWS_AS(in_pieces(one(copy_of(64, 1024, 101)), kPieces), std::runtime_error);
  CHECK_THROWS_AS(in_pieces(one(copy_of(64, 0, 4)), kPieces), std::runtime_error);
  const SequenceStep fill{.kind = SequenceStep::Kind::fill, .to = 510, .bytes = 8};
  CHECK_THROWS_AS(in_pieces(one(fill), kPieces), std::runtime_error);
  CHECK_THROWS_AS(in_pieces(one(launch_of({10})), kPieces), std::runtime_error);
  CHECK_THROWS_AS(in_pieces(one(launch_of({10})), {}), std::runtime_error);
}

TEST_CASE("whatever the pieces are, what lay in one lies in it at the same place") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Piece> pieces;
    std::uint64_t begin = random() % 64;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t bytes = random() % 200;
      pieces.push_back({.begin = begin, .bytes = bytes, .address = 0x100000 * (i + 1ULL)});
      begin += bytes + random() % 3;
    }
    const Piece& chosen = pieces[random() % pieces.size()];
    if (chosen.bytes == 0) continue;
    const std::uint64_t at = random() % chosen.bytes;
    const auto placed = in_pieces(one(launch_of({chosen.begin + at})), pieces);
    if (pointer(placed.steps.front(), 0) != chosen.address + at) FAIL("round " << round);
  }
}
