#include "engine/contract/index_bounds.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace assay::contract {
namespace {

// What an index may run over, as shown and as it is in the other contract.
using Extents = std::vector<std::pair<std::int64_t, std::int64_t>>;

Extents changed_extents(const Contract& shown, const Contract& other) {
  Extents extents;
  const auto take = [&](std::int64_t then, std::int64_t now) {
    if (now < then) extents.emplace_back(then, now);
  };
  for (std::size_t i = 0; i < std::min(shown.args.size(), other.args.size()); ++i) {
    if (!shown.args[i].is_tensor() || !other.args[i].is_tensor()) continue;
    const TensorSpec& then = *shown.args[i].tensor_spec;
    const TensorSpec& now = *other.args[i].tensor_spec;
    for (std::size_t d = 0; d < std::min(then.shape.size(), now.shape.size()); ++d) {
      take(then.shape[d], now.shape[d]);
    }
    take(static_cast<std::int64_t>(then.elements()), static_cast<std::int64_t>(now.elements()));
  }
  return extents;
}

// Nothing of it changes where no extent does. The extent itself is the end of a range.
std::int64_t inside(std::int64_t bound, const Extents& extents) {
  std::int64_t kept = bound;
  for (const auto& [then, now] : extents) {
    if (bound >= 0 && bound < then) kept = std::min(kept, now - 1);
    if (bound == then) kept = std::min(kept, now);
  }
  return kept;
}

bool keep_inside(std::optional<Number>& bound, const Extents& extents) {
  auto* whole = bound ? std::get_if<std::int64_t>(&*bound) : nullptr;
  if (whole == nullptr) return true;
  *whole = inside(*whole, extents);
  return *whole >= 0 || extents.empty();
}

}  // namespace

bool keep_indices_inside(Contract& other, const Contract& shown) {
  const Extents extents = changed_extents(shown, other);
  if (extents.empty()) return true;
  for (Arg& arg : other.args) {
    if (!arg.is_tensor() || !is_integer(arg.tensor_spec->dtype) || !arg.tensor_spec->init) continue;
    TensorInit& init = *arg.tensor_spec->init;
    if (init.kind == InitKind::full && !keep_inside(init.fill_value, extents)) return false;
    if (init.kind != InitKind::uniform) continue;
    const bool was_between = init.low && init.high && to_double(*init.low) < to_double(*init.high);
    if (!keep_inside(init.high, extents)) return false;
    const bool is_between = init.low && init.high && to_double(*init.low) < to_double(*init.high);
    if (was_between && !is_between) return false;
  }
  return true;
}

}  // namespace assay::contract
