// The referee's work on a device: the text of its kernels (on_device.cu, after the headers that the
// generator shares with it) and what they take. The structs are passed by value, as they are.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/judge/generator.h"

namespace assay::judge::on_device {

// As on_device.cu numbers them.
enum class Format : std::uint32_t {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
};

// Nothing for what a device is not asked about: 8-bit floats and complex numbers.
[[nodiscard]] std::optional<Format> format_of(contract::DType dtype);

struct Fill {
  std::uint64_t out = 0;
  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  std::uint64_t id = 0;
  double first = 0;
  double second = 0;
  double high = 0;
  std::uint64_t low_bits = 0;
  std::uint64_t high_bits = 0;
  Format format = Format::float32;
  std::uint32_t size_bytes = 4;
};

struct Scan {
  std::uint64_t data = 0;
  std::uint64_t other = 0;
  std::uint64_t count = 0;
  std::uint64_t result = 0;
  std::uint64_t phase = 0;
  std::uint64_t poison = 0;
  double atol = 0;
  double rtol = 0;
  std::uint32_t word = 0;
  std::uint32_t unit_bytes = 1;
  Format format = Format::uint8;
  std::uint32_t has_poison = 0;
};

// Which kernel fills a tensor as generate() would, and with what; `out` is left to the caller.
// Nothing: this tensor is made on the CPU (literal data, strides, sequences, complex and 8-bit
// floats, integers with a mean).
struct FillPlan {
  const char* kernel = "";
  Fill fill{};
};
[[nodiscard]] std::optional<FillPlan> plan_fill(const contract::TensorSpec& spec,
                                                const Stream& stream);

// One text of CUDA C++ for a compiler that finds no header.
[[nodiscard]] std::string source();
[[nodiscard]] std::vector<std::string> compiler_options();

}  // namespace assay::judge::on_device
