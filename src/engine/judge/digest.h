// One number that stands for the bytes of a tensor, so that runs on devices that share no memory
// can be held against each other bit for bit. Not a defence: who knows it can make other bytes of
// the same digest.
//
//   digest = Σ mix(word_i ⊕ mix(i + 1)) mod 2⁶⁴ over the little-endian words of 8 bytes, the last
//   filled up with zeros; mix is the finaliser of SplitMix64. A sum: threads of a device add in any
//   order.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace assay::judge {

[[nodiscard]] std::uint64_t digest(std::span<const std::byte> bytes);

// Sixteen hexadecimal digits.
[[nodiscard]] std::string spelled_digest(std::uint64_t digest);

}  // namespace assay::judge
