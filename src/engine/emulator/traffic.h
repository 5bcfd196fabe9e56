// Requests of warps to memory, counted as a device's first-level cache would: sectors of 32 bytes,
// wavefronts of shared memory. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/emulator/memory.h"
#include "engine/emulator/shadow.h"

namespace assay::emulator {

struct Requests {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;  // global: sectors; shared: wavefronts
  std::uint64_t ideal = 0;    // shared: wavefronts without conflicts
  std::uint64_t bytes = 0;    // that threads asked for
};

// Distinct sectors that the active lanes' accesses of `bytes` each touch.
[[nodiscard]] unsigned sectors_of(const std::array<std::uint64_t, 32>& addresses,
                                  std::uint32_t active, unsigned bytes);
// Passes that shared memory needs: in each, a bank of 4 bytes gives one word. Accesses of 8 bytes
// go by half warps, of 16 by quarters.
[[nodiscard]] unsigned wavefronts_of(const std::array<std::uint64_t, 32>& addresses,
                                     std::uint32_t active, unsigned bytes);
[[nodiscard]] unsigned phases_of(std::uint32_t active, unsigned bytes);

struct Traffic {
  explicit Traffic(const AddressTable& table, std::size_t ops);
  // By pc.
  std::vector<Requests> global{};
  std::vector<Requests> shared{};
  std::vector<std::uint8_t> is_store{};
  std::vector<ByteSet> sectors{};  // touched, by object
  void note_global(std::uint32_t pc, const AddressTable& table,
                   const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                   unsigned bytes);
  void note_shared(std::uint32_t pc, const std::array<std::uint64_t, 32>& addresses,
                   std::uint32_t active, unsigned bytes);
};

}  // namespace assay::emulator
