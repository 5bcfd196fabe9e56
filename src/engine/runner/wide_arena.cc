#include "engine/runner/wide_arena.h"

#include "engine/contract/in_double.h"
#include "engine/judge/in_double.h"
#include "engine/judge/poison.h"
#include "engine/judge/strided.h"

namespace assay::runner {

WideArena::WideArena(const contract::Contract& contract, const contract::Layout& layout)
    : contract_(contract),
      layout_(layout),
      wide_contract_(contract::in_double(contract)),
      wide_layout_(contract::layout(wide_contract_)) {}

posix::Descriptor WideArena::fill(std::span<const std::byte> arena, std::uint32_t guard) {
  memory_ = posix::SharedMemory::create("assay-wide-arena", wide_layout_.total_bytes);
  judge::fill_pattern(memory_.bytes(), guard);
  for (std::size_t i = 0; i < layout_.placements.size(); ++i) {
    const auto& from = layout_.placements[i];
    const auto& to = wide_layout_.placements[i];
    judge::widen(arena.subspan(from.offset, from.bytes),
                 contract_.args[from.arg_index].tensor_spec->dtype,
                 memory_.bytes().subspan(to.offset, to.bytes));
  }
  return memory_.descriptor().duplicate();
}

// A private copy first: the runner still has the pages mapped and may write on.
WideArena::Parts WideArena::parts(std::size_t placement) const {
  const auto& place = wide_layout_.placements[placement];
  const auto& tensor = *contract_.args[place.arg_index].tensor_spec;
  const auto& wide_tensor = *wide_contract_.args[place.arg_index].tensor_spec;
  const auto there = memory_.bytes().subspan(place.offset, place.bytes);
  const std::vector<std::byte> buffer(there.begin(), there.end());
  std::vector<std::byte> elements(wide_tensor.contiguous_bytes());
  judge::gather(wide_tensor, buffer, elements);
  Parts parts{.high = std::vector<std::byte>(tensor.contiguous_bytes()),
              .low = std::vector<std::byte>(tensor.contiguous_bytes())};
  judge::split(elements, tensor.dtype, parts.high, parts.low);
  return parts;
}

}  // namespace assay::runner
