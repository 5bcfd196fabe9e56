// Which instructions a thread may come to, by the jumps of its function alone.
#include "engine/emulator/control_ops.h"
#include "engine/emulator/module.h"

namespace assay::emulator {

std::vector<bool> Module::Text::reached_from(std::uint32_t from) const {
  std::vector<bool> seen(code.size() + 1);
  std::vector<std::uint32_t> next{from};
  while (!next.empty()) {
    const std::uint32_t pc = next.back();
    next.pop_back();
    if (pc >= code.size() || seen[pc]) continue;
    seen[pc] = true;
    const Op& op = code[pc];
    if (op.full == &op_branch || op.full == &op_branch_if) next.push_back(op.target);
    if (op.full == &op_branch_table) {
      const auto& table = jump_tables[op.aux];
      next.insert(next.end(), table.begin(), table.end());
    }
    const bool ends = op.guard == kNowhere &&
                      (op.full == &op_return || op.full == &op_exit || op.full == &op_branch_table);
    if (op.full != &op_branch && !ends) next.push_back(pc + 1);
  }
  return seen;
}

}  // namespace assay::emulator
