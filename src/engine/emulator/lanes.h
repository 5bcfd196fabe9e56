// Rows of 32 lanes as 32-byte vectors, and the loops over them. Included only by the *_ops.cc
// files, which are compiled once per instruction set; everything here is in that set's namespace.
// It must not instantiate library templates, or the linker might keep the wrong set's copy.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "engine/emulator/lane_addresses.h"
#include "engine/emulator/warp.h"

#ifndef ASSAY_EMULATOR_ISA
#define ASSAY_EMULATOR_ISA portable
#endif

// Vectors never cross a call: everything that takes them is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#define ASSAY_INLINE [[gnu::always_inline]] inline

namespace assay::emulator::ASSAY_EMULATOR_ISA {

template <class T>
struct ChunkOf {
  typedef T type __attribute__((vector_size(32), may_alias));
};
template <class T>
using Chunk = typename ChunkOf<T>::type;

template <unsigned Bytes>
struct IntOf;
template <>
struct IntOf<1> {
  using S = signed char;
  using U = unsigned char;
};
template <>
struct IntOf<2> {
  using S = short;
  using U = unsigned short;
};
template <>
struct IntOf<4> {
  using S = int;
  using U = unsigned int;
};
template <>
struct IntOf<8> {
  using S = long long;
  using U = unsigned long long;
};
template <class T>
using Signed = typename IntOf<sizeof(T)>::S;
template <class T>
using Unsigned = typename IntOf<sizeof(T)>::U;

template <class T>
inline constexpr int kChunks = static_cast<int>(sizeof(T));  // vectors in a row
template <class T>
inline constexpr int kLanes = static_cast<int>(32 / sizeof(T));  // lanes in a vector

template <class T>
ASSAY_INLINE Chunk<T>* chunks(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<Chunk<T>*>(w.rows + offset);
}

template <class T>
ASSAY_INLINE Chunk<T> splat(T v) {
  return Chunk<T>{} + v;
}

template <class T>
ASSAY_INLINE Chunk<T> lane_bits() {
  Chunk<T> r{};
  for (int k = 0; k < kLanes<T>; ++k) r[k] = static_cast<T>(T{1} << k);
  return r;
}

// All ones in the lanes of vector q that `mask` names.
template <class T>
ASSAY_INLINE Chunk<Signed<T>> lane_mask(std::uint32_t mask, int q) {
  using U = Unsigned<T>;
  const Chunk<U> bits = lane_bits<U>();
  const Chunk<U> m = splat<U>(static_cast<U>(mask >> (static_cast<unsigned>(q * kLanes<T>) & 31U)));
  return reinterpret_cast<Chunk<Signed<T>>>((m & bits) == bits);
}

// One bit per lane of a comparison's result.
template <class T>
ASSAY_INLINE std::uint32_t to_bits(Chunk<Signed<T>> c) {
#ifdef __AVX2__
  if constexpr (sizeof(T) == 4) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(c)));
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(c)));
  } else {
    const __m256i v = reinterpret_cast<__m256i>(c);
    const __m128i packed =
        _mm_packs_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
  }
#else
  std::uint32_t r = 0;
  for (int k = 0; k < kLanes<T>; ++k) r |= (static_cast<std::uint32_t>(c[k]) & 1U) << k;
  return r;
#endif
}

template <class T, bool Masked>
ASSAY_INLINE void put(Chunk<T>* d, int q, Chunk<T> v, std::uint32_t mask) {
  if constexpr (Masked) {
    d[q] = lane_mask<T>(mask, q) ? v : d[q];
  } else {
    d[q] = v;
  }
}

// --- loops; F has `template <class V> static V of(V…)` on vectors of T ---
template <class T, class F, bool Masked>
void map1(Warp& w, const Op& op) {
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) put<T, Masked>(d, q, F::template of<T>(a[q]), w.active);
}

template <class T, class F, bool Masked>
void map2(Warp& w, const Op& op) {
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const Chunk<T>* const b = chunks<T>(w, op.b);
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) {
    put<T, Masked>(d, q, F::template of<T>(a[q], b[q]), w.active);
  }
}

template <class T, class F, bool Masked>
void map3(Warp& w, const Op& op) {
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const Chunk<T>* const b = chunks<T>(w, op.b);
  const Chunk<T>* const c = chunks<T>(w, op.c);
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) {
    put<T, Masked>(d, q, F::template of<T>(a[q], b[q], c[q]), w.active);
  }
}

// Runs H and goes on with the next instruction by itself, a jump in place of a return to the loop
// and a call from it. For H that moves no pc and raises no event; as Op::full only, which nothing
// but the loop of a whole warp calls. A compiler that makes a call of the jump: op_checkpoint
// bounds how many there are of them.
ASSAY_INLINE void go_on(Warp& w, const Op& op) {
  const Op& next = *(&op + 1);
  ++w.pc;
  next.full(w, next);
}
template <Handler H>
[[gnu::flatten]] void and_next(Warp& w, const Op& op) {
  H(w, op);
  go_on(w, op);
}

template <Handler Full, Handler Masked>
constexpr Handlers chained() {
  return {&and_next<Full>, Masked};
}

template <class T, class F>
constexpr Handlers make1() {
  return chained<&map1<T, F, false>, &map1<T, F, true>>();
}
template <class T, class F>
constexpr Handlers make2() {
  return chained<&map2<T, F, false>, &map2<T, F, true>>();
}
template <class T, class F>
constexpr Handlers make3() {
  return chained<&map3<T, F, false>, &map3<T, F, true>>();
}

// --- one lane at a time, for what vectors cannot do; F::of(a, b, c, op) -> D ---
template <class T>
ASSAY_INLINE T* lanes_of(Warp& w, std::uint32_t offset) {
  typedef T Aliased __attribute__((may_alias));
  return reinterpret_cast<Aliased*>(w.rows + offset);
}

template <class D, class A, class F>
void each1(Warp& w, const Op& op) {
  D* const d = lanes_of<D>(w, op.d);
  const A* const a = lanes_of<A>(w, op.a);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = F::of(a[k], op);
  }
}

template <class D, class A, class B, class F>
void each2(Warp& w, const Op& op) {
  D* const d = lanes_of<D>(w, op.d);
  const A* const a = lanes_of<A>(w, op.a);
  const B* const b = lanes_of<B>(w, op.b);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = F::of(a[k], b[k], op);
  }
}

template <class D, class A, class B, class C, class F>
void each3(Warp& w, const Op& op) {
  D* const d = lanes_of<D>(w, op.d);
  const A* const a = lanes_of<A>(w, op.a);
  const B* const b = lanes_of<B>(w, op.b);
  const C* const c = lanes_of<C>(w, op.c);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = F::of(a[k], b[k], c[k], op);
  }
}

constexpr Handlers both(Handler h) { return {h, h}; }

// --- the selectors of this set, one per family file ---
bool select_integer(Form& form, Selection& s);
bool select_carry(Form& form, Selection& s);
bool select_product(Form& form, Selection& s);
bool select_bit_count(Form& form, Selection& s);
bool select_floating(Form& form, Selection& s);
bool select_sign(Form& form, Selection& s);
bool select_math(Form& form, Selection& s);
bool select_half(Form& form, Selection& s);
bool select_logic(Form& form, Selection& s);
bool select_shift(Form& form, Selection& s);
bool select_bit_field(Form& form, Selection& s);
bool select_compare(Form& form, Selection& s);
bool select_convert(Form& form, Selection& s, unsigned dst_row_bytes, unsigned src_row_bytes);
Handlers select_move(unsigned row_bytes);
Handlers select_load(const MemoryForm& form);
Handlers select_store(const MemoryForm& form);
// Empty if `form` is nothing that goes by whole words.
Handlers select_words(const MemoryForm& form, bool is_load);
// The handlers that can do everything, for accesses of 32-bit words.
void general_load_words(Warp& w, const Op& op, AddressClass address);
void general_store_words(Warp& w, const Op& op, AddressClass address);
extern const InspectionSet kInspectionSet;
extern const InstructionSet kInstructionSet;

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
