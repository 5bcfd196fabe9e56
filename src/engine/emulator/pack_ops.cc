#include "engine/emulator/pack_ops.h"

#include <array>
#include <cstring>

#include "engine/emulator/warp.h"

namespace assay::emulator {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

}  // namespace

void op_pack(Warp& w, const Op& op) {
  const std::array<std::uint32_t, 4> parts{op.a, op.b, op.c, op.e};
  const unsigned n = op.aux & 0xFFU;
  const unsigned part = op.aux >> 8 & 0xFFU;
  const unsigned whole = op.aux >> 16;
  const unsigned row_bytes = part < 2 ? 2 : part;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    U64 value = 0;
    for (unsigned i = 0; i < n; ++i) {
      std::memcpy(reinterpret_cast<std::byte*>(&value) + i * part,
                  w.rows + parts[i] + k * row_bytes, part);
    }
    std::memcpy(w.rows + op.d + k * whole, &value, whole);
  }
}

void op_unpack(Warp& w, const Op& op) {
  const std::array<std::uint32_t, 4> parts{op.a, op.b, op.c, op.e};
  const unsigned n = op.aux & 0xFFU;
  const unsigned part = op.aux >> 8 & 0xFFU;
  const unsigned whole = op.aux >> 16;
  const unsigned row_bytes = part < 2 ? 2 : part;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    U64 value = 0;
    std::memcpy(&value, w.rows + op.d + k * whole, whole);
    for (unsigned i = 0; i < n; ++i) {
      U32 element = 0;
      std::memcpy(&element, reinterpret_cast<const std::byte*>(&value) + i * part, part);
      std::memcpy(w.rows + parts[i] + k * row_bytes, &element, row_bytes);
    }
  }
}

}  // namespace assay::emulator
