// Inputs that were made elsewhere: the referee takes them, and nothing else of that memory.
#include <algorithm>
#include <stdexcept>

#include "engine/runner/examination.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;
using runner::Examination;

namespace {

constexpr judge::Secret kSecret{.low = 5, .high = 6};

contract::Contract scale_contract() {
  const json spec = {{"shape", {64}}, {"dtype", "float32"}};
  auto parsed = contract::parse(
      {{"args",
        {{{"name", "x"}, {"type", "tensor"}, {"role", "input"}, {"tensor_spec", spec}},
         {{"name", "y"}, {"type", "tensor"}, {"role", "output"}, {"tensor_spec", spec}}}}});
  return std::get<contract::Parsed>(parsed).contract;
}

}  // namespace

TEST_CASE("given inputs are what the arena holds; its outputs and guards stay the referee's") {
  Examination examination(scale_contract(), {}, kSecret);
  const std::size_t bytes = examination.layout().total_bytes;
  const auto given = posix::SharedMemory::create("given", bytes);
  std::fill(given.bytes().begin(), given.bytes().end(), std::byte{0x3F});
  const auto arena = posix::SharedMemory::adopt(examination.fill(1, 0), bytes);
  const std::vector<std::byte> before(arena.bytes().begin(), arena.bytes().end());
  examination.take_inputs(given.descriptor().duplicate());
  const auto& input = examination.layout().placements.at(0);
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool is_input = i >= input.offset && i < input.offset + input.bytes;
    if (arena.bytes()[i] != (is_input ? std::byte{0x3F} : before[i])) FAIL("byte " << i);
  }
}

TEST_CASE("a given input that is written to is found, one that is not is not") {
  Examination examination(scale_contract(), {}, kSecret);
  const std::size_t bytes = examination.layout().total_bytes;
  const auto given = posix::SharedMemory::create("given", bytes);
  const auto arena = posix::SharedMemory::adopt(examination.fill(1, 0), bytes);
  examination.take_inputs(given.descriptor().duplicate());
  const auto has_mutation = [&] {
    const json findings = examination.check().at("findings");
    return std::any_of(findings.begin(), findings.end(),
                       [](const json& one) { return one.at("check") == "input_mutated"; });
  };
  CHECK_FALSE(has_mutation());
  arena.bytes()[examination.layout().placements.at(0).offset] = std::byte{1};
  CHECK(has_mutation());
}

TEST_CASE("memory of another size, or one that may shrink, is refused") {
  Examination examination(scale_contract(), {}, kSecret);
  const std::size_t bytes = examination.layout().total_bytes;
  [[maybe_unused]] const auto arena = examination.fill(0, 0);
  const auto small = posix::SharedMemory::create("given", bytes - 1);
  CHECK_THROWS_AS(examination.take_inputs(small.descriptor().duplicate()), std::runtime_error);
}
