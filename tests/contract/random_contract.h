// Contracts at random for property tests; a seed always makes the same one.
#pragma once

#include <random>
#include <string>

#include "engine/contract/contract.h"

namespace assay::contract {

// Contracts at random, every member of the format met.
class RandomContract {
 public:
  explicit RandomContract(unsigned seed) : engine_(seed) {}

  Contract contract() {
    Contract made;
    if (chance()) made.sizes = {{"rows", below(100)}, {"_x2", -below(9)}};
    const auto count = 1 + below(6);
    for (std::int64_t i = 0; i < count; ++i) {
      made.args.push_back(below(5) == 0 ? texture(name(i))
                          : chance()    ? tensor(name(i))
                                        : scalar(name(i)));
    }
    if (chance()) made.launch = launch();
    return made;
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }
  bool chance() { return below(2) == 0; }
  double real() {
    return std::ldexp(static_cast<double>(engine_()) - 0x1p63, static_cast<int>(below(80)) - 120);
  }

  std::string name(std::int64_t index) {
    static constexpr const char* kOdd[] = {"in",     "grid", "a b", "x;y",  "\"q\"",
                                           "n: int", "size", "é#1", "meta", "[0]"};
    return (chance() ? std::string(kOdd[below(10)]) : "arg") + std::to_string(index);
  }

  TensorInit init() {
    TensorInit made;
    switch (below(6)) {
      case 0:
        made = {.kind = InitKind::randn, .mean = real(), .std = std::fabs(real())};
        break;
      case 1:
        made = {.kind = InitKind::uniform, .low = Number{-1.5}, .high = Number{below(50)}};
        break;
      case 2:
        made = {.kind = InitKind::full,
                .fill_value =
                    chance() ? Number{std::numeric_limits<double>::infinity()} : Number{real()}};
        break;
      case 3:
        made = {.kind = InitKind::arange, .start = Number{real()}, .step = Number{below(9) + 1}};
        break;
      case 4:
        made = {.kind = InitKind::zeros};
        break;
      default:
        made = {.kind = InitKind::ones};
    }
    if (chance()) made.seed = engine_();
    return made;
  }

  Arg tensor(std::string name) {
    Arg made{.name = std::move(name)};
    made.role = static_cast<Role>(below(3));
    TensorSpec spec;
    spec.dtype = chance() ? DType::float32 : DType::float64;
    for (std::int64_t d = below(4); d > 0; --d) spec.shape.push_back(1 + below(5));
    if (chance() && !spec.shape.empty()) {
      spec.strides = std::vector<std::int64_t>(spec.shape.size(), 1);
      for (std::size_t d = spec.shape.size() - 1; d > 0; --d) {
        (*spec.strides)[d - 1] = (*spec.strides)[d] * (spec.shape[d] + 1);
      }
    }
    if (made.role != Role::output || chance()) spec.init = init();
    if (made.role != Role::output && chance()) {
      std::string bytes(spec.contiguous_bytes(), '\0');
      for (char& byte : bytes) byte = static_cast<char>(below(256));
      spec.data = TensorData{.bytes = bytes,
                             .compression = chance() ? Compression::zlib : Compression::none};
    }
    if (made.role != Role::input && chance())
      spec.tolerance = ToleranceRequest{.atol = std::fabs(real()), .rtol = 1e-3};
    made.tensor_spec = std::move(spec);
    return made;
  }

  // Rows of eight texels of four bytes are those that CUDA takes.
  Arg texture(std::string name) {
    Arg made{.name = std::move(name)};
    TensorSpec spec{.shape = {1 + below(5), 8}};
    static constexpr std::int64_t kChannels[] = {1, 2, 4};
    Texture how{.channels = static_cast<std::uint32_t>(kChannels[below(3)])};
    if (chance()) {
      spec.dtype = DType::uint8;
      spec.shape[1] = 32;
      how.read = chance() ? TextureRead::normalized_float : TextureRead::element;
    }
    const bool is_float = spec.dtype == DType::float32 || how.read == TextureRead::normalized_float;
    if (is_float && chance()) how.filter = TextureFilter::linear;
    how.normalized_coords = chance();
    for (auto& address : how.address) {
      address = static_cast<TextureAddress>(below(how.normalized_coords ? 4 : 2));
    }
    if (how.channels > 1) spec.shape.push_back(how.channels);
    spec.init = TensorInit{.kind = InitKind::zeros};
    made.tensor_spec = std::move(spec);
    made.texture = how;
    return made;
  }

  Arg scalar(std::string name) {
    Arg made{.name = std::move(name), .is_meta = chance()};
    switch (below(4)) {
      case 0:
        made.type = ArgType::integer;
        made.value =
            chance() ? ScalarValue{below(1000) - 500} : ScalarValue{std::uint64_t{1} << 63};
        if (chance())
          made.c_type =
              std::holds_alternative<std::uint64_t>(made.value) ? DType::uint64 : DType::int64;
        break;
      case 1:
        made.type = ArgType::floating;
        made.value = chance() ? real() : -std::numeric_limits<double>::infinity();
        if (chance()) made.c_type = DType::float64;
        break;
      case 2:
        made.type = ArgType::boolean;
        made.value = chance();
        if (chance()) made.c_type = DType::uint8;
        break;
      default:
        made.type = ArgType::text;
        made.value = std::string(chance() ? "a; b # \"c\"\n[d" : "");
    }
    return made;
  }

  LaunchConfig launch() {
    LaunchConfig made;
    const auto dim = [&] {
      return LaunchDim{.x = static_cast<std::uint32_t>(1 + below(8)),
                       .y = static_cast<std::uint32_t>(1 + below(8)),
                       .z = 1};
    };
    if (chance()) made.grid = dim();
    if (chance()) made.block = dim();
    if (chance()) made.shared_mem_bytes = 1024;
    if (chance()) made.num_warps = 4;
    if (chance()) made.num_stages = 3;
    return made;
  }

  std::mt19937_64 engine_;
};

}  // namespace assay::contract
