#include "engine/emulator/texture_ops.h"

#include <bit>
#include <cstdio>

#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

template <typename T>
T* row(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

std::string unknown_handle(const Warp& w, std::uint64_t handle) {
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(handle));
  std::string text = std::string("Texture fetch through ") + hex + ", which is no texture object";
  const std::int32_t memory = w.table->find(handle, 1);
  if (memory < 0) return text;
  return text + " but the address of '" + w.objects[memory].name +
         "' (its argument in the contract needs \"texture\")";
}

// Why the instruction cannot read this texture, or nothing.
std::string misfit(const Texture& t, std::uint32_t form) {
  const bool wants_two = (form & kFetchTwoDimensions) != 0;
  const bool by_floats = (form & kFetchByFloats) != 0;
  const bool wants_floats = (form & kFetchFloatResult) != 0;
  if (wants_two == (t.height != 0) && wants_two == by_floats && wants_floats == reads_floats(t)) {
    return {};
  }
  const std::string named = "texture '" + t.name + "'";
  if (wants_two && t.height == 0) {
    return "tex2D of " + named + ", which has one dimension: tex1Dfetch reads it";
  }
  if (!wants_two && t.height != 0) {
    return "Fetch with one coordinate from " + named + ", which has two dimensions: tex2D reads it";
  }
  if (!wants_two && by_floats) {
    return "tex1D of " + named + ", which is linear memory: tex1Dfetch reads it";
  }
  return wants_floats ? "Fetch of floats from " + named +
                            ", whose elements are integers (\"read\": \"normalized_float\" makes "
                            "floats of 8 and 16 bits)"
                      : "Fetch of integers from " + named + ", which is read as floats";
}

}  // namespace

void op_fetch_texture(Warp& w, const Op& op) {
  const LaunchState& launch = w.block->launch();
  const auto y_row = static_cast<std::uint32_t>(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t handle = row<std::uint64_t>(w, op.e)[k];
    const BoundTexture* const texture = launch.texture(handle);
    const std::string wrong =
        texture == nullptr ? unknown_handle(w, handle) : misfit(texture->format, op.aux);
    if (!wrong.empty()) {
      fault_simple(w, op, FaultKind::invalid_texture, k, wrong);
      return;
    }
    const TexelBits bits =
        (op.aux & kFetchTwoDimensions) != 0
            ? sample_texture(*texture, row<float>(w, op.target)[k], row<float>(w, y_row)[k])
            : fetch_texel(*texture, row<std::int32_t>(w, op.target)[k]);
    row<std::uint32_t>(w, op.d)[k] = bits[0];
    row<std::uint32_t>(w, op.a)[k] = bits[1];
    row<std::uint32_t>(w, op.b)[k] = bits[2];
    row<std::uint32_t>(w, op.c)[k] = bits[3];
  }
}

}  // namespace assay::emulator
