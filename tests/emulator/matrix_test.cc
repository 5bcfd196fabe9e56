// Matrix instructions against the tables of the PTX ISA, written out here element by element, and
// sums made without fragments.
#include <cmath>
#include <functional>
#include <random>

#include "engine/emulator/float_formats.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr FloatFormat kBfloat{.exponent_bits = 8, .mantissa_bits = 7};

// What one product is: the opcode, its shape, elements per lane of a, b and c, and where the i-th
// of them lies. `group` is lane / 4, `in` lane % 4.
struct Product {
  std::string opcode{};
  int m = 16, n = 8, k = 16;
  int a_bits = 16, c_bits = 32;
  using Place = std::function<int(int group, int in, int i)>;
  Place a_row{}, a_column{}, b_row{};
};

int registers(int elements, int bits) { return elements * bits / (bits == 64 ? 64 : 32); }
std::string_view register_type(int bits) { return bits == 64 ? ".b64" : ".b32"; }

std::string names(const std::string& prefix, int n) {
  std::string s = "{";
  for (int i = 0; i < n; ++i) s += (i == 0 ? "%" : ", %") + prefix + std::to_string(i);
  return s + "}";
}

// Each lane has 64 bytes of a, of b and of c in memory, and leaves 64 bytes of d.
std::string kernel(const Product& p, int na, int nb, int nc) {
  const int a_bytes = p.a_bits == 64 ? 8 : 4;
  const int c_bytes = p.c_bits == 64 ? 8 : 4;
  std::string s = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{ .reg .b32 %t; .reg .b64 %at;
)";
  s += "  .reg " + std::string(register_type(p.a_bits)) + " %a<16>, %b<16>;\n";
  s += "  .reg " + std::string(register_type(p.c_bits)) + " %c<16>;\n";
  s += "  mov.u32 %t, %tid.x;\n";
  const auto each = [&](const std::string& name, int n, int bytes, bool load) {
    s += "  ld.param.u64 %at, [" + name + "];\n  mad.wide.u32 %at, %t, 64, %at;\n";
    for (int i = 0; i < n; ++i) {
      const std::string reg = "%" + name + std::to_string(i);
      const std::string at = "[%at+" + std::to_string(i * bytes) + "]";
      const std::string type = bytes == 8 ? "b64" : "b32";
      s += load ? "  ld.global." + type + " " + reg + ", " + at + ";\n"
                : "  st.global." + type + " " + at + ", " + reg + ";\n";
    }
  };
  each("a", na, a_bytes, true);
  each("b", nb, a_bytes, true);
  each("c", nc, c_bytes, true);
  s += "  " + p.opcode + " " + names("c", nc) + ", " + names("a", na) + ", " + names("b", nb) +
       ", " + names("c", nc) + ";\n";
  each("c", nc, c_bytes, false);
  return s + "  ret;\n}\n";
}

using Lanes = std::vector<std::array<std::uint8_t, 64>>;

// The i-th element of a lane's 64 bytes.
std::uint64_t element(const Lanes& lanes, int lane, int i, int bits) {
  std::uint64_t v = 0;
  for (int b = 0; b < bits; ++b) {
    const int at = i * bits + b;
    const auto byte = lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(at / 8)];
    v |= static_cast<std::uint64_t>(byte >> (at % 8) & 1) << b;
  }
  return v;
}
void set_element(Lanes& lanes, int lane, int i, int bits, std::uint64_t v) {
  for (int b = 0; b < bits; ++b) {
    const int at = i * bits + b;
    auto& byte = lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(at / 8)];
    byte = static_cast<std::uint8_t>((byte & ~(1U << (at % 8))) | static_cast<unsigned>(v >> b & 1)
                                                                      << (at % 8));
  }
}

int c_row(int group, int, int i) { return group + (i >= 2 ? 8 : 0); }
int c_column(int, int in, int i) { return in * 2 + (i & 1); }

// Runs the instruction on matrices made by `make_a`, `make_b` (bits) and `make_c`, and compares d
// with want(row, column).
struct Matrices {
  std::function<std::uint64_t()> make_a{}, make_b{}, make_c{};
  std::function<std::uint64_t(const std::vector<std::uint64_t>& row_of_a,
                              const std::vector<std::uint64_t>& column_of_b, std::uint64_t c)>
      want{};
};

void check_product(const Product& p, const Matrices& x) {
  const int na = p.m * p.k / 32, nb = p.k * p.n / 32, nc = p.m * p.n / 32;
  std::vector<std::uint64_t> a(static_cast<std::size_t>(p.m * p.k)),
      b(static_cast<std::size_t>(p.k * p.n)), c(static_cast<std::size_t>(p.m * p.n));
  for (auto& v : a) v = x.make_a();
  for (auto& v : b) v = x.make_b();
  for (auto& v : c) v = x.make_c();
  const auto at = [](auto& matrix, int row, int column, int width) -> std::uint64_t& {
    return matrix[static_cast<std::size_t>(row * width + column)];
  };
  Lanes la(32), lb(32), lc(32);
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, in = lane % 4;
    for (int i = 0; i < na; ++i) {
      set_element(la, lane, i, p.a_bits, at(a, p.a_row(g, in, i), p.a_column(g, in, i), p.k));
    }
    for (int i = 0; i < nb; ++i)
      set_element(lb, lane, i, p.a_bits, at(b, p.b_row(g, in, i), g, p.n));
    for (int i = 0; i < nc; ++i) {
      set_element(lc, lane, i, p.c_bits, at(c, c_row(g, in, i), c_column(g, in, i), p.n));
    }
  }
  INFO(p.opcode);
  const auto module =
      parsed(kernel(p, registers(na, p.a_bits), registers(nb, p.a_bits), registers(nc, p.c_bits)));
  const Outcome o =
      Call("k", {1}, {32}).buffer("a", la).buffer("b", lb).buffer("c", lc).run(module);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < nc; ++i) {
      const int row = c_row(lane / 4, lane % 4, i), column = c_column(lane / 4, lane % 4, i);
      std::vector<std::uint64_t> of_a, of_b;
      for (int k = 0; k < p.k; ++k) {
        of_a.push_back(at(a, row, k, p.k));
        of_b.push_back(at(b, k, column, p.n));
      }
      INFO("row " << row << " column " << column);
      REQUIRE(element(lc, lane, i, p.c_bits) == x.want(of_a, of_b, at(c, row, column, p.n)));
    }
  }
}

// The tables of "Matrix Fragments for mma", by element width.
Product halves(const std::string& opcode, int k) {
  Product p{.opcode = opcode, .k = k};
  p.a_row = [](int g, int, int i) { return g + (i == 0 || i == 1 || i == 4 || i == 5 ? 0 : 8); };
  p.a_column = [](int, int in, int i) { return in * 2 + (i & 1) + (i < 4 ? 0 : 8); };
  p.b_row = [](int, int in, int i) { return in * 2 + (i & 1) + (i < 2 ? 0 : 8); };
  return p;
}
Product words(const std::string& opcode, int k) {
  Product p{.opcode = opcode, .k = k, .a_bits = 32};
  p.a_row = [](int g, int, int i) { return i == 0 || i == 2 ? g : g + 8; };
  p.a_column = [](int, int in, int i) { return i < 2 ? in : in + 4; };
  p.b_row = [](int, int in, int i) { return i == 0 ? in : in + 4; };
  return p;
}
// 8, 4 and 1 bits: `run` elements of a register lie side by side.
Product narrow(const std::string& opcode, int m, int k, int bits) {
  const int run = 32 / bits;
  Product p{.opcode = opcode, .m = m, .k = k, .a_bits = bits};
  p.a_row = [=](int g, int, int i) { return m == 8 ? g : i / run % 2 == 0 ? g : g + 8; };
  p.a_column = [=](int, int in, int i) { return in * run + i % run + (i < 2 * run ? 0 : 4 * run); };
  p.b_row = [=](int, int in, int i) { return in * run + i % run + (i < run ? 0 : 4 * run); };
  return p;
}

std::mt19937 random_source(5);  // NOLINT: the same numbers in every run
std::uint64_t below(unsigned n) { return random_source() % n; }
std::uint64_t float_bits(double v) {
  return __builtin_bit_cast(std::uint32_t, static_cast<float>(v));
}
double float_value(std::uint64_t bits) {
  return static_cast<double>(__builtin_bit_cast(float, static_cast<std::uint32_t>(bits)));
}

// Small whole numbers, whose sums are exact in any order and width.
Matrices exact_numbers(const std::function<std::uint64_t(double)>& encode,
                       const std::function<double(std::uint64_t)>& decode, bool half_sums) {
  const auto pick = [=] { return encode(static_cast<double>(below(9)) - 4); };
  Matrices x{.make_a = pick, .make_b = pick};
  const auto to_sum = [=](double v) -> std::uint64_t {
    return half_sums ? encode_float(kHalf, v, false) : float_bits(v);
  };
  x.make_c = [=] { return to_sum(static_cast<double>(below(17)) - 8); };
  x.want = [=](const auto& a, const auto& b, std::uint64_t c) {
    double sum = half_sums ? decode_float(kHalf, static_cast<std::uint32_t>(c)) : float_value(c);
    for (std::size_t i = 0; i < a.size(); ++i) sum += decode(a[i]) * decode(b[i]);
    return to_sum(sum);
  };
  return x;
}

Matrices format_numbers(const FloatFormat& f, bool half_sums = false) {
  return exact_numbers(
      [=](double v) { return encode_float(f, v, false); },
      [=](std::uint64_t v) { return decode_float(f, static_cast<std::uint32_t>(v)); }, half_sums);
}

Matrices whole_numbers(int bits, bool a_signed, bool b_signed) {
  const unsigned n = 1U << bits;
  const auto value = [=](std::uint64_t v, bool is_signed) {
    return is_signed && v >= n / 2 ? static_cast<std::int64_t>(v) - n
                                   : static_cast<std::int64_t>(v);
  };
  Matrices x{.make_a = [=] { return below(n); }, .make_b = [=] { return below(n); }};
  x.make_c = [] { return std::uint64_t{random_source()}; };
  x.want = [=](const auto& a, const auto& b, std::uint64_t c) {
    std::uint64_t sum = c;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += static_cast<std::uint64_t>(value(a[i], a_signed) * value(b[i], b_signed));
    }
    return sum & 0xFFFF'FFFF;
  };
  return x;
}

}  // namespace

TEST_CASE("mma of 16-bit floats follows the ISA's fragment tables") {
  check_product(halves("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16),
                format_numbers(kHalf));
  check_product(halves("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8),
                format_numbers(kHalf));
  check_product(halves("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16),
                format_numbers(kBfloat));
  Product p = halves("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16);
  p.c_bits = 16;
  check_product(p, format_numbers(kHalf, true));
}

TEST_CASE("mma of tf32 ignores the bits that tf32 does not have") {
  const auto with_noise = [](double v) { return float_bits(v) | below(0x2000); };
  const auto without = [](std::uint64_t v) { return float_value(v & ~std::uint64_t{0x1FFF}); };
  check_product(words("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8),
                exact_numbers(with_noise, without, false));
  check_product(words("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4),
                exact_numbers(with_noise, without, false));
}

TEST_CASE("mma of 8-bit floats reads both formats") {
  check_product(narrow("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, 8),
                format_numbers(kE4m3));
  check_product(narrow("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 16, 32, 8),
                format_numbers(kE5m2));
}

TEST_CASE("mma of integers wraps around, whatever the signs") {
  const std::string tail = ".s32";
  for (const int m : {8, 16}) {
    for (const int k : {16, 32}) {
      if (m == 8 && k == 32) continue;
      const std::string shape = "m" + std::to_string(m) + "n8k" + std::to_string(k);
      for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
          check_product(narrow("mma.sync.aligned." + shape + ".row.col.s32." + (a ? "s8." : "u8.") +
                                   (b ? "s8" : "u8") + tail,
                               m, k, 8),
                        whole_numbers(8, a, b));
        }
      }
    }
  }
  check_product(narrow("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 16, 64, 4),
                whole_numbers(4, true, false));
  check_product(narrow("mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32", 8, 32, 4),
                whole_numbers(4, false, false));
}

TEST_CASE("mma of single bits counts those in common or those that differ") {
  for (const bool is_xor : {false, true}) {
    Matrices x{.make_a = [] { return below(2); }, .make_b = [] { return below(2); }};
    x.make_c = [] { return below(1000); };
    x.want = [=](const auto& a, const auto& b, std::uint64_t c) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        c += is_xor ? static_cast<std::uint64_t>(a[i] != b[i])
                    : static_cast<std::uint64_t>(a[i] == 1 && b[i] == 1);
      }
      return c;
    };
    const std::string tail = is_xor ? ".s32.b1.b1.s32.xor.popc" : ".s32.b1.b1.s32.and.popc";
    check_product(narrow("mma.sync.aligned.m16n8k256.row.col" + tail, 16, 256, 1), x);
    check_product(narrow("mma.sync.aligned.m8n8k128.row.col" + tail, 8, 128, 1), x);
  }
}

TEST_CASE("mma of doubles adds in order, each sum fused") {
  for (const int k : {4, 8, 16}) {
    Product p{.opcode = "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col.f64.f64.f64.f64",
              .k = k,
              .a_bits = 64,
              .c_bits = 64};
    p.a_row = [](int g, int, int i) { return i % 2 == 0 ? g : g + 8; };
    p.a_column = [](int, int in, int i) { return i / 2 * 4 + in; };
    p.b_row = [](int, int in, int i) { return i * 4 + in; };
    const auto pick = [] {
      return __builtin_bit_cast(std::uint64_t,
                                std::ldexp(static_cast<double>(random_source()), -32));
    };
    Matrices x{.make_a = pick, .make_b = pick, .make_c = pick};
    x.want = [](const auto& a, const auto& b, std::uint64_t c) {
      double sum = __builtin_bit_cast(double, c);
      for (std::size_t i = 0; i < a.size(); ++i) {
        sum = std::fma(__builtin_bit_cast(double, a[i]), __builtin_bit_cast(double, b[i]), sum);
      }
      return __builtin_bit_cast(std::uint64_t, sum);
    };
    check_product(p, x);
  }
}

TEST_CASE("saturating integer products stop at the ends of their range") {
  Matrices x{.make_a = [] { return std::uint64_t{127}; },
             .make_b = [] { return std::uint64_t{127}; }};
  x.make_c = [] { return std::uint64_t{0x7FFF'FFF0}; };
  x.want = [](const auto&, const auto&, std::uint64_t) { return std::uint64_t{0x7FFF'FFFF}; };
  check_product(narrow("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 32, 8), x);
}
