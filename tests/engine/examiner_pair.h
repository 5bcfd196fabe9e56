// Both examiners on one contract, the device's on the emulator: for tests that one says what the
// other does.
#pragma once

#include <cstring>

#include "engine/runner/device_examination.h"
#include "tests/catch.h"
#include "tests/engine/emulator_space.h"
#include "tests/engine/referee_kernels.h"

namespace assay::examiner_pair {

using contract::DType;
using nlohmann::json;
using runner::DeviceExamination;
using runner::EmulatorSpace;
using runner::Examination;

inline contract::Contract contract_of(const json& args) {
  auto parsed = contract::parse({{"args", args}, {"launch", {{"grid", 1}, {"block", 1}}}});
  if (const auto* refused = std::get_if<contract::Refused>(&parsed)) {
    FAIL(refused->violations.front().message);
  }
  return std::get<contract::Parsed>(parsed).contract;
}

inline json tensor(const char* name, const char* role, const json& spec) {
  return {{"name", name}, {"type", "tensor"}, {"role", role}, {"tensor_spec", spec}};
}

inline constexpr judge::Secret kSecret{.low = 0x1234'5678'9ABC, .high = 77};

// Both examiners on one contract; a run is what a lambda does to an arena of either.
struct Pair {
  explicit Pair(const json& args)
      : contract(contract_of(args)),
        space(runner::referee_kernels()),
        host(contract, {}, kSecret),
        device(contract, {}, kSecret, space) {}

  // Fills both, lets `run` write, and answers both arenas' bytes before it.
  template <typename Run>
  void turn(std::uint32_t trial, const Run& run) {
    const auto host_arena = posix::SharedMemory::adopt(host.fill(trial, 0), bytes());
    const auto lent = device.fill(trial, 0);
    const auto device_arena = space.lent(lent);
    REQUIRE(std::equal(host_arena.bytes().begin(), host_arena.bytes().end(), device_arena.begin()));
    run(host_arena.bytes());
    run(device_arena);
  }
  [[nodiscard]] std::size_t bytes() const { return host.layout().total_bytes; }
  [[nodiscard]] std::size_t offset(std::size_t tensor) const {
    return host.layout().placements.at(tensor).offset;
  }
  // What the host's examiner says is what the device's says.
  json agreed_check() {
    const json said = host.check();
    CHECK(device.check() == said);
    return said;
  }
  json agreed_expect() {
    const json said = host.expect();
    CHECK(device.expect() == said);
    return said;
  }

  contract::Contract contract;
  EmulatorSpace space;
  Examination host;
  DeviceExamination device;
};

template <typename T>
void put(std::span<std::byte> arena, std::size_t offset, std::size_t index, T value) {
  std::memcpy(arena.data() + offset + index * sizeof(T), &value, sizeof(T));
}

inline json in_and_out(const char* dtype, std::size_t n) {
  return {tensor("a", "input", {{"shape", {n}}, {"dtype", dtype}}),
          tensor("out", "output", {{"shape", {n}}, {"dtype", dtype}})};
}

// out = f(i) for every element.
inline auto writes_floats(const Pair& pair, std::size_t n, float scale) {
  return [&pair, n, scale](std::span<std::byte> arena) {
    for (std::size_t i = 0; i < n; ++i) {
      put(arena, pair.offset(1), i, scale * static_cast<float>(i));
    }
  };
}

}  // namespace assay::examiner_pair
