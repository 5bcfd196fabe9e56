// Integer pairs, minima with a floor, conversions to packed small values: what
// compiles to few instructions of a device, lane by lane here and the same for every processor.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

bool select_packed(Form& form, Selection& s);
// cvt to and from 8-bit floats and tf32, cvt.pack. The operands of `s` are those of the
// instruction, in order.
bool select_packed_convert(Form& form, Selection& s);

// lop3.or.b32 d|p, a, b, c, table, q: imm the table, aux 0 or / 1 and; e result predicate, guard
// of none; target the predicate q
void op_lop3_predicate(Warp& w, const Op& op);

}  // namespace assay::emulator
