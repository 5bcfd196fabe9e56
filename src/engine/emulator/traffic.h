// Requests of warps to memory, counted as a device's first-level cache would: sectors of 32 bytes,
// wavefronts of shared memory. Used by one thread.
//
// What a request costs depends on how the addresses lie to one another and, in global memory, on
// where in its sector the first one is. An instruction mostly comes back with the shape of an
// earlier time, so its last shapes are kept with what they were found to cost.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/emulator/byte_set.h"
#include "engine/emulator/lane_addresses.h"
#include "engine/emulator/memory.h"
#include "engine/emulator/module.h"

namespace assay::emulator {

struct Requests {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;  // global: sectors; shared: wavefronts
  std::uint64_t ideal = 0;    // shared: wavefronts without conflicts
  std::uint64_t bytes = 0;    // that threads asked for
};

// How far apart the addresses of neighbouring lanes lie, in the requests of one instruction.
struct Stride {
  enum class Kind : std::uint8_t { unknown, one, irregular };
  Kind kind = Kind::unknown;  // of one lane nothing is known
  std::int64_t bytes = 0;
};
// Of one request.
[[nodiscard]] Stride stride_of(const AccessShape& shape, bool narrow);

// For tests: distinct sectors that the active lanes' accesses of `bytes` each touch.
[[nodiscard]] unsigned sectors_of(const std::array<std::uint64_t, 32>& addresses,
                                  std::uint32_t active, unsigned bytes);
// Passes that shared memory needs: in each, a bank of 4 bytes gives one word. Accesses of 8 bytes
// go by half warps, of 16 by quarters.
[[nodiscard]] unsigned wavefronts_of(const std::array<std::uint64_t, 32>& addresses,
                                     std::uint32_t active, unsigned bytes);
[[nodiscard]] unsigned phases_of(std::uint32_t active, unsigned bytes);

struct Traffic {
  Traffic(const AddressTable& memory, std::size_t ops, const InspectionSet& inspection_set);
  // By pc.
  std::vector<Requests> global{};
  std::vector<Requests> shared{};
  std::vector<Stride> strides{};
  std::vector<std::uint8_t> is_store{};
  std::vector<ByteSet> sectors{};  // touched, by object

  // The access that `op` at site.pc is about to make.
  void note(Warp& w, const Op& op, const WatchedSite& site);
  // By pc: the shape seen last, never nullptr. What adds to its hits need not call note().
  [[nodiscard]] AccessShape* const* recent() const { return recent_.data(); }
  // Takes all hits into account.
  void finish(const Module::Text& text);

 private:
  struct SectorRun {
    std::int64_t first = 0;  // from the sector of the first active lane's address
    std::uint32_t count = 0;
  };
  struct SectorList {
    unsigned count = 0;  // 0: not yet known
    std::vector<SectorRun> runs{};
  };
  struct Shape {
    AccessShape of{};
    std::array<SectorList, 32> sectors{};  // by the place of the first address in its sector
  };
  struct Shapes {
    std::array<Shape, 2> kept{};
    unsigned recent = 0;
    std::size_t object = 0;  // that was accessed last
  };
  [[nodiscard]] Shapes& shapes_at(std::uint32_t pc);
  Shape& shape_of(Warp& w, const Op& op, const WatchedSite& site, Shapes& shapes);
  [[nodiscard]] const LaneAddresses& addresses_of(Warp& w, const Op& op, const WatchedSite& site);
  void take_hits(const WatchedSite& site, AccessShape& shape);
  void note_stride(std::uint32_t pc, const AccessShape& shape, bool narrow);
  void note_global(Warp& w, const Op& op, const WatchedSite& site, Shapes& shapes, Shape& shape);
  // False: the request is not inside one object, or shares a sector with another.
  bool touch_runs(const Shape& shape, const SectorList& list, std::uint64_t first, unsigned bytes,
                  std::size_t& object);
  void touch_each(const std::array<std::uint64_t, 32>& addresses, std::uint32_t active,
                  unsigned bytes);

  const AddressTable& memory_;
  const InspectionSet& set_;
  std::vector<std::unique_ptr<Shapes>> shapes_{};  // by pc
  std::size_t shapes_made_ = 0;
  std::uint64_t shapes_taken_ = 0;
  AccessShape none_{};
  std::vector<AccessShape*> recent_;  // by pc
  Shapes unkept_{};                   // for instructions beyond those whose shapes are kept
  LaneAddresses addresses_{};
};

}  // namespace assay::emulator
