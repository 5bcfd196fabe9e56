// Which loads of a straight line may rely on what an earlier one found out about its addresses
// (anchor.h): those by the same register, which nothing wrote between them. Part of the decoder;
// told of every instruction in the order of the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/emulator/op.h"

namespace assay::emulator {

class AnchoredLoads {
 public:
  struct Access {
    std::string_view base{};  // register or symbol
    MemoryForm form{};
    std::int64_t imm = 0;
    std::size_t pc = 0;
    std::int32_t anchor = -1;  // where it keeps what it finds; -1: nowhere yet
  };

  // The load that `load` may follow, with an anchor of its own from now on. Without one, `load` may
  // be followed by later ones if it `always_runs`.
  [[nodiscard]] std::optional<Access> leader_of(const Access& load, bool always_runs);
  // The register was written.
  void forget(std::string_view base);
  // Anything may have been written, or other lanes may run before the next instruction.
  void forget_all() { seen_.clear(); }

 private:
  [[nodiscard]] std::int32_t take_anchor(std::size_t since);

  std::vector<Access> seen_{};
  std::array<std::size_t, kAnchors> free_from_{};  // the pc after that of its last access
};

}  // namespace assay::emulator
