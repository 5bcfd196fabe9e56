// The referee's work on a device: inputs by the same generator, and the questions whose usual answer
// is "nothing is wrong". Compiled at run time, after philox.h and normal.h in one text, so that the
// generator has one definition; fused multiply-add is off. What is not clean is looked at again on
// the CPU (comparison.h), which alone decides and explains: these kernels count.
//
// Every kernel takes one struct and walks over its elements with any grid. Shared with on_device.h:
// change both.

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

enum Format : u32 {
  kFloat64, kFloat32, kFloat16, kBFloat16,
  kInt64, kInt32, kInt16, kInt8, kUInt64, kUInt32, kUInt16, kUInt8,
};

struct Fill {
  u64 out;
  u64 count;  // elements
  u64 seed;
  u64 id;
  double first;   // randn: std; uniform: low
  double second;  // randn: mean; uniform: high - low
  double high;    // uniform
  u64 low_bits;   // uniform: the format's least value in range; bounded: low; constant: the value
  u64 high_bits;  // uniform: the greatest; bounded: how many values, 0: 2^64; words: a mask
  u32 format;
  u32 size_bytes;
};

struct Scan {
  u64 data;
  u64 other;   // what it is compared with
  u64 count;   // bytes, units or elements
  u64 result;  // counters, zeroed before
  u64 phase;   // of a pattern: where the data begins in its arena
  u64 poison;  // bits of an element that still holds poison
  double atol;
  double rtol;
  u32 word;  // the pattern
  u32 unit_bytes;
  u32 format;
  u32 has_poison;
};

static u64 thread_index() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
static u64 thread_count() { return u64(gridDim.x) * blockDim.x; }

static void store(u64 out, u64 index, u32 size_bytes, u64 bits) {
  switch (size_bytes) {
    case 8: reinterpret_cast<u64*>(out)[index] = bits; break;
    case 4: reinterpret_cast<u32*>(out)[index] = u32(bits); break;
    case 2: reinterpret_cast<u16*>(out)[index] = u16(bits); break;
    default: reinterpret_cast<u8*>(out)[index] = u8(bits); break;
  }
}

// scalar_conversion.h's rounding for the two 16-bit formats.
static u64 narrow(double value, int mantissa_bits, int bias, u32 highest, u32 infinity, u32 nan) {
  const u64 bits = std::bit_cast<u64>(value);
  const u64 sign = (bits >> 63) != 0 ? 0x8000 : 0;
  const u64 magnitude = bits & 0x7FFFFFFFFFFFFFFF;
  if (magnitude > 0x7FF0000000000000) return sign | nan;
  const int exponent = int(magnitude >> 52) - 1023;
  const int lowest = 1 - bias;
  const int below = exponent < lowest ? lowest - exponent : 0;
  const int shift = 52 - mantissa_bits + below;
  if (shift > 54) return sign;
  const u64 significand = (magnitude & 0xFFFFFFFFFFFFF) | (1ULL << 52);
  const u64 rest = significand & ((1ULL << shift) - 1);
  const u64 half = 1ULL << (shift - 1);
  u64 result = significand >> shift;
  if (rest > half || (rest == half && (result & 1) != 0)) ++result;
  if (below == 0) result += u64(exponent - lowest) << mantissa_bits;
  return sign | (result > highest ? infinity : result);
}

static u64 to_bits(double value, u32 format) {
  switch (format) {
    case kFloat64: return std::bit_cast<u64>(value);
    case kFloat32: return std::bit_cast<u32>(float(value));
    case kFloat16: return narrow(value, 10, 15, 0x7BFF, 0x7C00, 0x7E00);
    default: return narrow(value, 7, 127, 0x7F7F, 0x7F80, 0x7FC0);
  }
}

static double widen_half(u32 bits) {
  const u32 magnitude = bits & 0x7FFF;
  const u64 sign = u64(bits >> 15) << 63;
  if (magnitude > 0x7BFF) {
    return std::bit_cast<double>(sign | (magnitude == 0x7C00 ? 0x7FF0000000000000 : 0x7FF8000000000000));
  }
  if (magnitude < 0x400) {
    const double value = double(magnitude) * 0x1p-24;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<double>(sign | (u64((magnitude >> 10) + 1008) << 52) | (u64(magnitude & 0x3FF) << 42));
}

static double from_bits(u64 bits, u32 format) {
  switch (format) {
    case kFloat64: return std::bit_cast<double>(bits);
    case kFloat32: return double(std::bit_cast<float>(u32(bits)));
    case kFloat16: return widen_half(u32(bits));
    default: return double(std::bit_cast<float>(u32(bits) << 16));
  }
}

// A block of four 32-bit words, as two 64-bit ones too.
struct Words {
  assay::judge::PhiloxBlock word;
  Words(const Fill& fill, u64 block) : word(assay::judge::philox(fill.seed, block, fill.id)) {}
  u64 wide(int i) const { return word[2 * i] | (u64(word[2 * i + 1]) << 32); }
};

static void store_normal(const Fill& fill, u64 index, double value) {
  if (index >= fill.count) return;
  store(fill.out, index, fill.size_bytes, to_bits(value * fill.first + fill.second, fill.format));
}

extern "C" __global__ void assay_randn(Fill fill) {
  const u64 per_block = fill.format == kFloat64 ? 2 : 4;
  for (u64 block = thread_index(); block * per_block < fill.count; block += thread_count()) {
    const Words words(fill, block);
    if (fill.format == kFloat64) {
      const auto pair = assay::judge::normal_pair(std::uint64_t(words.wide(0)), std::uint64_t(words.wide(1)));
      store_normal(fill, block * 2, pair.first);
      store_normal(fill, block * 2 + 1, pair.second);
      continue;
    }
    for (int i = 0; i < 4; i += 2) {
      const auto pair = assay::judge::normal_pair(words.word[i], words.word[i + 1]);
      store_normal(fill, block * 4 + i, pair.first);
      store_normal(fill, block * 4 + i + 1, pair.second);
    }
  }
}

extern "C" __global__ void assay_uniform(Fill fill) {
  const u64 per_block = fill.format == kFloat64 ? 2 : 4;
  for (u64 block = thread_index(); block * per_block < fill.count; block += thread_count()) {
    const Words words(fill, block);
    for (u64 i = 0; i < per_block && block * per_block + i < fill.count; ++i) {
      const double unit = fill.format == kFloat64 ? double(words.wide(int(i)) >> 11) * 0x1p-53
                                                  : double(words.word[i]) * 0x1p-32;
      u64 bits = to_bits(fill.first + fill.second * unit, fill.format);
      const double rounded = from_bits(bits, fill.format);
      if (rounded >= fill.high) bits = fill.high_bits;
      if (rounded < fill.first) bits = fill.low_bits;
      store(fill.out, block * per_block + i, fill.size_bytes, bits);
    }
  }
}

extern "C" __global__ void assay_bounded(Fill fill) {
  for (u64 block = thread_index(); block * 2 < fill.count; block += thread_count()) {
    const Words words(fill, block);
    for (int i = 0; i < 2 && block * 2 + i < fill.count; ++i) {
      const u64 word = words.wide(i);
      const u64 value = fill.low_bits + (fill.high_bits == 0 ? word : __umul64hi(word, fill.high_bits));
      store(fill.out, block * 2 + i, fill.size_bytes, value);
    }
  }
}

extern "C" __global__ void assay_words(Fill fill) {
  for (u64 block = thread_index(); block * 4 < fill.count; block += thread_count()) {
    const Words words(fill, block);
    for (int i = 0; i < 4 && block * 4 + i < fill.count; ++i) {
      store(fill.out, block * 4 + i, fill.size_bytes, words.word[i] & fill.high_bits);
    }
  }
}

extern "C" __global__ void assay_constant(Fill fill) {
  for (u64 i = thread_index(); i < fill.count; i += thread_count()) {
    store(fill.out, i, fill.size_bytes, fill.low_bits);
  }
}

static u8 pattern_byte(u32 word, u64 offset) { return u8(word >> (8 * (offset % 4))); }

// Bytes [0, count) of `data` become the pattern, in the phase of their arena.
extern "C" __global__ void assay_pattern(Scan scan) {
  for (u64 i = thread_index(); i < scan.count; i += thread_count()) {
    reinterpret_cast<u8*>(scan.data)[i] = pattern_byte(scan.word, scan.phase + i);
  }
}

// One atomic of a warp instead of 32 that wait for one another. Of whole warps: every thread comes
// here, whatever it has found.
constexpr u32 kWholeWarp = 0xFFFFFFFF;
static bool is_first_lane() { return threadIdx.x % 32 == 0; }

static void add(u64 result, u64 index, u64 count) {
  for (u32 distance = 16; distance > 0; distance /= 2) count += __shfl_down_sync(kWholeWarp, count, distance);
  if (is_first_lane() && count != 0) atomicAdd(reinterpret_cast<u64*>(result) + index, count);
}

static void raise(u64 result, u64 index, u64 value) {
  for (u32 distance = 16; distance > 0; distance /= 2) {
    const u64 other = __shfl_down_sync(kWholeWarp, value, distance);
    if (other > value) value = other;
  }
  if (is_first_lane() && value != 0) atomicMax(reinterpret_cast<u64*>(result) + index, value);
}

// result[0]: units that still hold the pattern.
extern "C" __global__ void assay_unwritten(Scan scan) {
  u64 found = 0;
  for (u64 i = thread_index(); i < scan.count; i += thread_count()) {
    bool holds = true;
    const u64 at = i * scan.unit_bytes;
    if (scan.unit_bytes % 4 == 0) {
      for (u32 k = 0; k < scan.unit_bytes && holds; k += 4) {
        holds = *reinterpret_cast<const u32*>(scan.data + at + k) == scan.word;
      }
    } else {
      for (u32 k = 0; k < scan.unit_bytes && holds; ++k) {
        holds = reinterpret_cast<const u8*>(scan.data)[at + k] == pattern_byte(scan.word, at + k);
      }
    }
    found += holds ? 1 : 0;
  }
  add(scan.result, 0, found);
}

// result[0]: bytes that no longer hold the pattern.
extern "C" __global__ void assay_breached(Scan scan) {
  u64 found = 0;
  for (u64 i = thread_index(); i < scan.count; i += thread_count()) {
    const bool holds = reinterpret_cast<const u8*>(scan.data)[i] == pattern_byte(scan.word, scan.phase + i);
    found += holds ? 0 : 1;
  }
  add(scan.result, 0, found);
}

// result[0]: 4-byte words, or bytes of the rest, that differ.
extern "C" __global__ void assay_differing(Scan scan) {
  u64 found = 0;
  const u64 words = scan.count / 4;
  for (u64 i = thread_index(); i < words; i += thread_count()) {
    found += reinterpret_cast<const u32*>(scan.data)[i] != reinterpret_cast<const u32*>(scan.other)[i] ? 1 : 0;
  }
  for (u64 i = words * 4 + thread_index(); i < scan.count; i += thread_count()) {
    found += reinterpret_cast<const u8*>(scan.data)[i] != reinterpret_cast<const u8*>(scan.other)[i] ? 1 : 0;
  }
  add(scan.result, 0, found);
}

static u64 mix(u64 x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// result[0]: the digest (digest.h) of `count` bytes.
extern "C" __global__ void assay_digest(Scan scan) {
  u64 sum = 0;
  for (u64 i = thread_index(); i * 8 < scan.count; i += thread_count()) {
    u64 word = 0;
    if (scan.count - i * 8 >= 8) {
      word = reinterpret_cast<const u64*>(scan.data)[i];
    } else {
      for (u64 k = i * 8; k < scan.count; ++k) word |= u64(reinterpret_cast<const u8*>(scan.data)[k]) << (8 * (k % 8));
    }
    sum += mix(word ^ mix(i + 1));
  }
  add(scan.result, 0, sum);
}

static u64 load(u64 data, u64 index, u32 size_bytes) {
  switch (size_bytes) {
    case 8: return reinterpret_cast<const u64*>(data)[index];
    case 4: return reinterpret_cast<const u32*>(data)[index];
    case 2: return reinterpret_cast<const u16*>(data)[index];
    default: return reinterpret_cast<const u8*>(data)[index];
  }
}

static bool is_nan(double value) { return value != value; }
static bool is_finite(double value) { return fabs(value) <= 0x1.FFFFFFFFFFFFFp+1023; }

// One walk over the elements of an output; comparison.cc's rules.
struct Judgement {
  u64 mismatches = 0;
  double max_abs = 0;
  double max_rel = 0;
  u64 max_ulp = 0;

  void note_finite(const Scan& scan, double abs_error, double want_magnitude) {
    if (!(abs_error <= scan.atol + scan.rtol * want_magnitude)) ++mismatches;
    if (abs_error > max_abs) max_abs = abs_error;
    if (want_magnitude > 0 && abs_error / want_magnitude > max_rel) max_rel = abs_error / want_magnitude;
  }

  void judge_real(const Scan& scan, u64 got_bits, u64 want_bits) {
    const double got = from_bits(got_bits, scan.format);
    const double want = from_bits(want_bits, scan.format);
    if (got == want) return;
    if (is_nan(got) && is_nan(want)) {
      if (scan.has_poison != 0 && got_bits == scan.poison) ++mismatches;
    } else if (!is_finite(got) || !is_finite(want)) {
      ++mismatches;
    } else {
      note_finite(scan, fabs(got - want), fabs(want));
      const u64 steps = ulp_distance(got_bits, want_bits, 8 * scan.unit_bytes - 1);
      if (steps > max_ulp) max_ulp = steps;
    }
  }

  void judge_integer(const Scan& scan, u64 got, u64 want, bool is_signed) {
    const int shift = 64 - 8 * int(scan.unit_bytes);
    const i64 signed_got = i64(got << shift) >> shift;
    const i64 signed_want = i64(want << shift) >> shift;
    const bool greater = is_signed ? signed_got > signed_want : got > want;
    const u64 wide_got = is_signed ? u64(signed_got) : got;
    const u64 wide_want = is_signed ? u64(signed_want) : want;
    const u64 difference = greater ? wide_got - wide_want : wide_want - wide_got;
    note_finite(scan, double(difference), is_signed ? fabs(double(signed_want)) : double(want));
  }

  static u64 ulp_distance(u64 a, u64 b, int sign_bit) {
    const u64 mask = (1ULL << sign_bit) - 1;
    const u64 x = a & mask;
    const u64 y = b & mask;
    if ((a >> sign_bit) != (b >> sign_bit)) return x + y;
    return x > y ? x - y : y - x;
  }
};

// result: mismatches, max_abs and max_rel as bits (of numbers ≥ 0: they order as integers), max_ulp.
extern "C" __global__ void assay_compare(Scan scan) {
  Judgement judgement;
  for (u64 i = thread_index(); i < scan.count; i += thread_count()) {
    const u64 got = load(scan.data, i, scan.unit_bytes);
    const u64 want = load(scan.other, i, scan.unit_bytes);
    if (got == want) continue;
    if (scan.format <= kBFloat16) {
      judgement.judge_real(scan, got, want);
    } else {
      judgement.judge_integer(scan, got, want, scan.format < kUInt64);
    }
  }
  add(scan.result, 0, judgement.mismatches);
  raise(scan.result, 1, std::bit_cast<u64>(judgement.max_abs));
  raise(scan.result, 2, std::bit_cast<u64>(judgement.max_rel));
  raise(scan.result, 3, judgement.max_ulp);
}
