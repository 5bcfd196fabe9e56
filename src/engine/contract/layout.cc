#include "engine/contract/layout.h"

namespace assay::contract {
namespace {

std::uint64_t align_up(std::uint64_t value) {
  return (value + kTensorAlignmentBytes - 1) / kTensorAlignmentBytes * kTensorAlignmentBytes;
}

}  // namespace

Layout layout(const Contract& contract) {
  static_assert(kGuardBytes % kTensorAlignmentBytes == 0);
  Layout result;
  std::uint64_t cursor = 0;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const Arg& arg = contract.args[i];
    if (!arg.tensor_spec) continue;
    Placement placement{.arg_index = i, .name = arg.name, .guard_begin = cursor};
    placement.offset = cursor + kGuardBytes;
    placement.bytes = arg.tensor_spec->buffer_bytes();
    placement.guard_end = align_up(placement.offset + placement.bytes + kGuardBytes);
    cursor = placement.guard_end;
    result.placements.push_back(std::move(placement));
  }
  result.total_bytes = cursor;
  return result;
}

}  // namespace assay::contract
