// Matrices in the registers of a warp: ldmatrix, stmatrix, movmatrix, mma, wmma. All lanes take
// part; `aux` is the index of the description in Module::Text.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

// 8x8 matrices of 16-bit elements: a: 64-bit address row + imm, rows in d, b, c, e, aux: count |
// space << 8 | transposed << 16
void op_load_matrix(Warp& w, const Op& op);
void op_store_matrix(Warp& w, const Op& op);
void op_move_matrix(Warp& w, const Op& op);  // d = transposed a

void op_matrix_product(Warp& w, const Op& op);  // aux: Text::products
void op_fragment_load(Warp& w, const Op& op);   // a: address row + imm, b: stride row or kNowhere,
void op_fragment_store(Warp& w, const Op& op);  // c: space, aux: Text::transfers

}  // namespace assay::emulator
