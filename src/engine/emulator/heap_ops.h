// Memory that a kernel asks for while it runs: malloc and free on the device, alloca on a thread's
// stack.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

void op_malloc(Warp& w, const Op& op);  // aux: call site
void op_free(Warp& w, const Op& op);

void op_alloca(Warp& w, const Op& op);         // d: address row of 8 bytes, a: size row of 8 bytes
void op_stack_save(Warp& w, const Op& op);     // d: row of 8 bytes
void op_stack_restore(Warp& w, const Op& op);  // a: row of 8 bytes

}  // namespace assay::emulator
