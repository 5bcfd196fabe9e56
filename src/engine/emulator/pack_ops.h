// Registers put together into a wider one, and taken apart: mov of a list.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

// aux: elements | bytes of one << 8 | bytes of the whole << 16; parts in a, b, c, e
void op_pack(Warp& w, const Op& op);
void op_unpack(Warp& w, const Op& op);

}  // namespace assay::emulator
