// Memory for a run in double: the tensors of an arena with each element widened, in a layout of its
// own, and what such a run leaves there as parts of the contract's own types.
//
// Owned by the referee's Examination; one thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/contract/layout.h"
#include "engine/posix/descriptor.h"

namespace assay::runner {

class WideArena {
 public:
  // REQUIRES contract::why_not_in_double() of it to be nothing. Borrows it and its layout.
  WideArena(const contract::Contract& contract, const contract::Layout& layout);

  // Takes everything out of `arena`, which is of the contract's layout, room between the tensors
  // patterned with `guard`; to be lent to a runner.
  [[nodiscard]] posix::Descriptor fill(std::span<const std::byte> arena, std::uint32_t guard);

  // Of the tensor at `placement`, an index into both layouts: its elements, contiguous.
  struct Parts {
    std::vector<std::byte> high{};
    std::vector<std::byte> low{};
  };
  [[nodiscard]] Parts parts(std::size_t placement) const;

 private:
  const contract::Contract& contract_;
  const contract::Layout& layout_;
  contract::Contract wide_contract_;
  contract::Layout wide_layout_;
  posix::SharedMemory memory_{};
};

}  // namespace assay::runner
