// The contents of tensors, from a seed: the one definition of "the same seed gives the same bytes"
// for every kernel type, device and process. What stands here is the specification; another
// implementation (on a device, in a script) must give the same bytes.
//
// Pure; any thread. The room is compiled without floating-point contraction; only + - * / and sqrt
// of IEEE double are used, in the order written, so compilers and processors agree bit for bit.
//
// Words. A tensor has a Stream {seed, id}. Block b is philox(key = seed, counter = (b, id)), four
// words.
//   32-bit word i = block i/4, word i%4.          Used by real floats of ≤ 32 bits, by full-range
//                                                 integers of ≤ 32 bits and by bool.
//   64-bit word i = block i/2, words 2(i%2) (low  Used by float64, and by integers with bounds or
//     half) and 2(i%2)+1 (high half).             of 64 bits.
// i is the element's C-order index. Complex element i is the components 2i (real) and 2i+1
// (imaginary) of its component type.
//
// randn, floats.
//   Elements 2p and 2p+1 are a Box–Muller pair of words a = word 2p and b = word 2p+1:
//     u = (a + 0.5) / 2^32                     ((a >> 11) + 0.5) / 2^53 for float64
//     r = sqrt(-2 ln u), t = 2π b / 2^32       2π b / 2^64 for float64
//     element 2p = r cos t, element 2p+1 = r sin t;
//     then × std + mean in double, then rounded to the dtype.
//   ln, cos, sin are normal.h's. mean (0) and std (1) count independently of each other. complex:
//   each component's std is std·sqrt(1/2) and mean is added to the real part.
// randn, integers.
//   Without mean and std: every value of the type, equally likely, except int64 in [-10^6, 10^6]
//   and uint64 in [0, 10^6]. Type ≤ 32 bits: the low bits of the 32-bit word. With mean or std:
//   the float64 normal, rounded to nearest even, kept within the type.
// randn, uniform, bool.
//   The lowest bit of the 32-bit word.
// uniform, floats.
//   low + (high - low)·u in double, u = word / 2^32 (float64: (word >> 11) / 2^53), rounded to the
//   dtype and kept within the dtype's values v with low ≤ v < high (default [0, 1)). If the dtype
//   has no value in there, low rounded. complex: each component.
// uniform, integers.
//   In [low, high], both included (default [0, 100]): low + floor(w·n / 2^64), w the 64-bit word,
//   n = high - low + 1.
// zeros, ones, full.
//   The value rounded to the dtype (floats) or taken exactly (integers); bool: value ≠ 0.
// arange.
//   start + step·j, j the index in the last dimension: the sequence repeats over the others. In
//   double for floats; exactly, modulo 2^bits, for integers if start and step are integers, else
//   in double, cut to an integer and kept within the type. bool: value ≠ 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/contract/contract.h"

namespace assay::judge {

struct Stream {
  std::uint64_t seed = 0;
  std::uint64_t id = 0;
  bool operator==(const Stream&) const = default;
};

// 128 secret bits, drawn once per job by the engine and never shown to a runner.
struct Secret {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// Trial 0: exactly what the contract says. A seeded tensor is {seed, 0}: the same seed gives the
// same values, whatever the argument's name and place. An unseeded one is {0, arg_index + 1}, so
// that two arguments never hold the same values by accident.
[[nodiscard]] Stream contract_stream(std::optional<std::uint64_t> seed, std::size_t arg_index);

// The seed of a hidden trial: SipHash-2-4 of (seed, trial) under the secret. REQUIRES trial > 0.
[[nodiscard]] std::uint64_t trial_seed(const Secret& secret, std::uint64_t arg_seed,
                                       std::uint32_t trial);

// Trial 0 gives contract_stream; trial t > 0 gives {trial_seed(secret, seed or 0, t), arg_index +
// 1}, so that arguments which share a seed differ in hidden trials.
[[nodiscard]] Stream trial_stream(const Secret& secret, std::optional<std::uint64_t> seed,
                                  std::size_t arg_index, std::uint32_t trial);

// Writes elements [first, first + n) of the tensor, C order and contiguous, where n = out.size() /
// size of the dtype. REQUIRES out.size() to be a multiple of it. `last_dim` is shape.back(), or 1
// for a 0-d tensor.
void generate(const contract::TensorInit& init, contract::DType dtype, std::uint64_t last_dim,
              const Stream& stream, std::uint64_t first, std::span<std::byte> out);

// Fills the whole contiguous tensor of `spec`: its literal data if it has any, else its init, else
// randn. Large ones on several threads of its own. REQUIRES out.size() == spec.contiguous_bytes().
void generate(const contract::TensorSpec& spec, const Stream& stream, std::span<std::byte> out);

}  // namespace assay::judge
