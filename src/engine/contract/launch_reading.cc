#include "engine/contract/launch_reading.h"

#include <algorithm>

namespace assay::contract {
namespace {

struct Bounds {
  std::array<std::int64_t, 3> most{};
};
constexpr Bounds kGridBounds{kMostBlocks};
constexpr Bounds kBlockBounds{{1024, 1024, 64}};
constexpr std::int64_t kMaxBlockThreads = 1024;
constexpr std::int64_t kMaxSharedBytes = 227 * 1024;
constexpr std::int64_t kMaxStages = 64;

std::optional<std::int64_t> read_bounded(const Node& node, std::string_view what,
                                         std::int64_t least, std::int64_t most, Sizes& sizes,
                                         Notes& notes) {
  const auto value = sizes.resolve(node, what, notes);
  if (!value) return std::nullopt;
  if (*value >= least && *value <= most) return value;
  const std::string given = node.json->is_string() ? brief(*node.json) + " = " : "";
  notes.violate(node.pointer, std::string(what) + " must be between " + std::to_string(least) +
                                  " and " + std::to_string(most) + ", but is " + given +
                                  std::to_string(*value));
  return std::nullopt;
}

// {"x": 4, "y": 1, "z": 1}, [4, 1, 1], or 4. `open`: takes the axes that are left open, if any may.
std::optional<LaunchDim> read_dim(const Node& node, std::string_view what, const Bounds& bounds,
                                  Sizes& sizes, Notes& notes,
                                  std::array<std::string, 3>* open = nullptr) {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  bool sound = true;
  auto read_axis = [&](const Node& axis, std::size_t i) {
    if (open != nullptr && sizes.leaves_open(axis)) {
      (*open)[i] = axis.json->get<std::string>();
      return;
    }
    const std::string axis_name = std::string(what) + "." + std::string(kAxes[i]);
    const auto value = read_bounded(axis, axis_name, 1, bounds.most[i], sizes, notes);
    sound = sound && value;
    extents[i] = value.value_or(1);
  };
  if (node.json->is_array()) {
    if (!expect_array(node, what, 3, notes)) return std::nullopt;
    for (std::size_t i = 0; i < node.json->size(); ++i) read_axis(node.element(i), i);
  } else if (node.json->is_object()) {
    warn_unknown_keys(node, {.here = {"x", "y", "z"}}, notes);
    for (std::size_t i = 0; i < 3; ++i) {
      if (const auto axis = node.member(kAxes[i])) read_axis(*axis, i);
    }
  } else {
    read_axis(node, 0);
  }
  if (!sound) return std::nullopt;
  return LaunchDim{.x = static_cast<std::uint32_t>(extents[0]),
                   .y = static_cast<std::uint32_t>(extents[1]),
                   .z = static_cast<std::uint32_t>(extents[2])};
}

std::optional<std::uint32_t> read_count(const Node& launch, std::string_view key,
                                        std::int64_t least, std::int64_t most, Sizes& sizes,
                                        Notes& notes) {
  const auto node = launch.member(key);
  if (!node) return std::nullopt;
  const auto value = read_bounded(*node, key, least, most, sizes, notes);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::uint32_t> read_num_warps(const Node& launch, Sizes& sizes, Notes& notes) {
  const auto node = launch.member("num_warps");
  if (!node) return std::nullopt;
  const auto value = sizes.resolve(*node, "num_warps", notes);
  if (!value) return std::nullopt;
  constexpr std::array<std::int64_t, 6> kAllowed{1, 2, 4, 8, 16, 32};
  if (std::find(kAllowed.begin(), kAllowed.end(), *value) == kAllowed.end()) {
    notes.violate(node->pointer,
                  "num_warps must be one of 1, 2, 4, 8, 16, 32, but is " + std::to_string(*value));
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*value);
}

}  // namespace

LaunchConfig read_launch(const Node& node, bool open_grid, Sizes& sizes, Notes& notes) {
  LaunchConfig launch;
  if (!expect_object(node, "launch", notes)) return launch;
  warn_unknown_keys(
      node,
      {.here = {"grid", "block", "shared_mem_bytes", "num_warps", "num_stages", "kernel_name"}},
      notes);
  // Which kernel is no part of a contract; who has the kernel reads it.
  if (const auto name = node.member("kernel_name")) {
    [[maybe_unused]] const auto text = read_string(*name, "kernel_name", notes);
  }
  if (const auto grid = node.member("grid")) {
    launch.grid =
        read_dim(*grid, "grid", kGridBounds, sizes, notes, open_grid ? &launch.open_grid : nullptr);
  }
  if (const auto block = node.member("block")) {
    launch.block = read_dim(*block, "block", kBlockBounds, sizes, notes);
    if (launch.block) {
      const std::int64_t threads =
          std::int64_t{launch.block->x} * launch.block->y * launch.block->z;
      if (threads > kMaxBlockThreads) {
        notes.violate(block->pointer, "block has " + std::to_string(threads) +
                                          " threads, at most 1024 are allowed");
      }
    }
  }
  launch.shared_mem_bytes = read_count(node, "shared_mem_bytes", 0, kMaxSharedBytes, sizes, notes);
  launch.num_warps = read_num_warps(node, sizes, notes);
  launch.num_stages = read_count(node, "num_stages", 1, kMaxStages, sizes, notes);
  return launch;
}

}  // namespace assay::contract
