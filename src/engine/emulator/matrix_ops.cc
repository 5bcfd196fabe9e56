#include "engine/emulator/matrix_ops.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/emulator/block.h"
#include "engine/emulator/matrix_elements.h"
#include "engine/emulator/matrix_products.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T* row(Warp& w, U32 offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

// Bytes of one lane, or a fault.
std::byte* locate(Warp& w, const Op& op, const BadAccess& wanted) {
  std::byte* p =
      host_address(w, wanted.space, wanted.lane, wanted.address, wanted.bytes, wanted.is_write);
  const bool misaligned = wanted.address % wanted.bytes != 0;
  if (p == nullptr && !misaligned && !wanted.is_write) p = stray_read(w, op, wanted);
  if (p != nullptr && !misaligned) return p;
  BadAccess bad = wanted;
  bad.kind = p != nullptr ? FaultKind::misaligned : FaultKind::out_of_bounds;
  fault_access(w, op, bad);
  return nullptr;
}

// The host addresses of the 16-byte rows of up to four matrices; false after a fault.
bool matrix_rows(Warp& w, const Op& op, bool write, std::array<std::byte*, 32>& out) {
  const unsigned count = op.aux & 0xFFU;
  for (unsigned lane = 0; lane < count * 8; ++lane) {
    out[lane] = locate(w, op,
                       {.space = static_cast<Space>(op.aux >> 8 & 0xFFU),
                        .is_write = write,
                        .lane = lane,
                        .address = row<U64>(w, op.a)[lane] + static_cast<U64>(op.imm),
                        .bytes = 16});
    if (out[lane] == nullptr) return false;
  }
  return true;
}

// Where half `part` of lane's register lies in an 8x8 matrix.
Cell half_cell(unsigned lane, unsigned part, bool transposed) {
  const Cell c{lane >> 2, (lane & 3U) * 2 + part};
  return transposed ? Cell{c.column, c.row} : c;
}

bool whole_warp(Warp& w, const Op& op) {
  if (w.live != kAllLanes) {
    fault_simple(w, op, FaultKind::invalid_shuffle, static_cast<unsigned>(__builtin_ctz(w.active)),
                 "Matrix instruction in a warp that does not have all of its 32 lanes");
    return false;
  }
  return gather_members(w, op, kAllLanes);
}

// Products are exact in a double and their sum is rounded once at the end, which is closer to the
// true sum than a device, whose order and width are its own. Doubles are summed as IEEE says.
void product_of_numbers(Warp& w, const MatrixProduct& p) {
  Matrix<double> a = numbers(w, p.a);
  Matrix<double> b = numbers(w, p.b);
  Matrix<double> c = numbers(w, p.c);
  const Shape s = p.a.shape;
  const bool fused = p.a.element == Element::f64;
  const RoundedSums rounded(p.rounding);
  for (unsigned i = 0; i < s.m; ++i) {
    double* const sums = &c.cells[std::size_t{i} * s.n];
    for (unsigned k = 0; k < s.k; ++k) {
      const double x = a.at({i, k});
      const double* const y = &b.cells[std::size_t{k} * s.n];
      for (unsigned j = 0; j < s.n; ++j) {
        sums[j] = fused ? std::fma(x, y[j], sums[j]) : sums[j] + x * y[j];
      }
    }
  }
  write_fragment(w, p.d, [&](Cell at) { return number_bits(p.d, c.at(at)); });
}

std::int64_t multiply(MatrixProduct::Kind kind, std::int32_t x, std::int32_t y) {
  if (kind == MatrixProduct::Kind::and_popc) return x & y;
  if (kind == MatrixProduct::Kind::xor_popc) return x ^ y;
  return std::int64_t{x} * y;
}

void product_of_integers(Warp& w, const MatrixProduct& p) {
  Matrix<std::int32_t> a = integers(w, p.a);
  Matrix<std::int32_t> b = integers(w, p.b);
  Matrix<std::int32_t> c = integers(w, p.c);
  const Shape s = p.a.shape;
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (unsigned i = 0; i < s.m; ++i) {
    for (unsigned j = 0; j < s.n; ++j) {
      std::int64_t sum = c.at({i, j});
      for (unsigned k = 0; k < s.k; ++k) sum += multiply(p.kind, a.at({i, k}), b.at({k, j}));
      if (p.saturate) sum = sum < kMin ? kMin : sum > kMax ? kMax : sum;
      c.at({i, j}) = static_cast<std::int32_t>(sum);
    }
  }
  write_fragment(w, p.d, [&](Cell at) { return static_cast<U64>(static_cast<U32>(c.at(at))); });
}

// The address of an element of a matrix in memory: the bit offset from the start.
struct InMemory {
  U64 start = 0;
  U64 stride = 0;  // elements from one row (column) to the next
  Space space = Space::generic;
};

InMemory matrix_in_memory(Warp& w, const Op& op, const MatrixTransfer& t) {
  const auto lane = static_cast<unsigned>(__builtin_ctz(w.active));
  const unsigned tight = t.column_major ? t.fragment.height() : t.fragment.width();
  return {.start = row<U64>(w, op.a)[lane] + static_cast<U64>(op.imm),
          .stride = op.b == kNowhere ? tight : U64{row<U32>(w, op.b)[lane]},
          .space = static_cast<Space>(op.c)};
}

U64 element_index(const MatrixTransfer& t, const InMemory& m, Cell c) {
  return t.column_major ? c.column * m.stride + c.row : c.row * m.stride + c.column;
}

// Bytes of the smallest whole access that holds an element.
unsigned access_bytes(Element e) { return bits_of(e) < 8 ? 1 : bits_of(e) / 8; }

// The bytes of the whole matrix, if they lie in one object and nobody looks at each access.
std::byte* whole_matrix(Warp& w, const MatrixTransfer& t, const InMemory& m, bool write) {
  const unsigned bytes = bits_of(t.fragment.element) / 8;
  if (w.recording || bytes == 0 || m.start % bytes != 0) return nullptr;
  const Cell last{t.fragment.height() - 1, t.fragment.width() - 1};
  return host_address(w, m.space, 0, m.start, (element_index(t, m, last) + 1) * bytes, write);
}

}  // namespace

void op_load_matrix(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  std::array<std::byte*, 32> rows{};
  if (!matrix_rows(w, op, false, rows)) return;
  const std::array<U32, 4> results{op.d, op.b, op.c, op.e};
  const bool transposed = (op.aux >> 16 & 1U) != 0;
  for (unsigned i = 0; i < (op.aux & 0xFFU); ++i) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      std::array<U16, 2> halves{};
      for (unsigned part = 0; part < 2; ++part) {
        const Cell c = half_cell(lane, part, transposed);
        std::memcpy(&halves[part], rows[i * 8 + c.row] + std::size_t{2} * c.column, 2);
      }
      row<U32>(w, results[i])[lane] = U32{halves[1]} << 16 | halves[0];
    }
  }
}

void op_store_matrix(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  std::array<std::byte*, 32> rows{};
  if (!matrix_rows(w, op, true, rows)) return;
  const std::array<U32, 4> sources{op.d, op.b, op.c, op.e};
  const bool transposed = (op.aux >> 16 & 1U) != 0;
  for (unsigned i = 0; i < (op.aux & 0xFFU); ++i) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      const U32 value = row<U32>(w, sources[i])[lane];
      for (unsigned part = 0; part < 2; ++part) {
        const Cell c = half_cell(lane, part, transposed);
        const auto half = static_cast<U16>(value >> (16 * part));
        std::memcpy(rows[i * 8 + c.row] + std::size_t{2} * c.column, &half, 2);
      }
    }
  }
}

void op_move_matrix(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  std::array<std::array<U16, 8>, 8> cells{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned part = 0; part < 2; ++part) {
      const Cell c = half_cell(lane, part, false);
      cells[c.row][c.column] = static_cast<U16>(row<U32>(w, op.a)[lane] >> (16 * part));
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Cell low = half_cell(lane, 0, true);
    const Cell high = half_cell(lane, 1, true);
    row<U32>(w, op.d)[lane] = U32{cells[high.row][high.column]} << 16 | cells[low.row][low.column];
  }
}

void op_matrix_product(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  const MatrixProduct& p = w.block->launch().text.products[op.aux];
  if (p.quads) {
    multiply_quads(w, p);
  } else if (p.sparsity) {
    multiply_sparse(w, p);
  } else if (is_whole(p.a.element)) {
    product_of_integers(w, p);
  } else {
    product_of_numbers(w, p);
  }
  w.slice -= 64;  // takes as long as that many simple instructions
}

void op_fragment_load(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  const MatrixTransfer& t = w.block->launch().text.transfers[op.aux];
  const InMemory m = matrix_in_memory(w, op, t);
  const unsigned bits = bits_of(t.fragment.element);
  const unsigned bytes = access_bytes(t.fragment.element);
  if (const std::byte* const whole = whole_matrix(w, t, m, false)) {
    write_fragment(w, t.fragment, [&](Cell c) {
      U64 value = 0;
      std::memcpy(&value, whole + element_index(t, m, c) * bytes, bytes);
      return value;
    });
    return;
  }
  bool faulted = false;
  write_fragment(w, t.fragment, [&](Cell c) -> U64 {
    if (faulted) return 0;
    const U64 index = element_index(t, m, c);
    const std::byte* const p =
        locate(w, op, {.space = m.space, .address = m.start + index * bits / 8, .bytes = bytes});
    faulted = p == nullptr;
    if (faulted) return 0;
    U64 value = 0;
    std::memcpy(&value, p, bytes);
    return bits < 8 ? value >> (index * bits % 8) & ((U64{1} << bits) - 1) : value;
  });
}

void op_fragment_store(Warp& w, const Op& op) {
  if (!whole_warp(w, op)) return;
  const MatrixTransfer& t = w.block->launch().text.transfers[op.aux];
  const InMemory m = matrix_in_memory(w, op, t);
  const unsigned bytes = access_bytes(t.fragment.element);
  if (std::byte* const whole = whole_matrix(w, t, m, true)) {
    read_fragment(w, t.fragment, [&](Cell c, U64 value) {
      std::memcpy(whole + element_index(t, m, c) * bytes, &value, bytes);
    });
    return;
  }
  bool faulted = false;
  read_fragment(w, t.fragment, [&](Cell c, U64 value) {
    if (faulted) return;
    std::byte* const p = locate(w, op,
                                {.space = m.space,
                                 .is_write = true,
                                 .address = m.start + element_index(t, m, c) * bytes,
                                 .bytes = bytes});
    faulted = p == nullptr;
    if (!faulted) std::memcpy(p, &value, bytes);
  });
}

}  // namespace assay::emulator
