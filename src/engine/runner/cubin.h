// The section table of a cubin, which is an ELF file (64 bit, little-endian; System V ABI, chapter
// 4). Names and sizes only. Pure; never reads past what it was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runner {

struct CubinSection {
  std::string name{};
  std::uint64_t bytes = 0;
};

// Empty if the bytes are no such file; sections whose header or name lies outside are left out.
[[nodiscard]] std::vector<CubinSection> cubin_sections(std::string_view cubin);

}  // namespace assay::runner
