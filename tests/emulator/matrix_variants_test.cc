// Products with a sparse a and the four small products of mma.m8n8k4, laid out lane by lane as the
// tables of the PTX ISA have it, against sums over whole matrices.
#include <array>
#include <cmath>
#include <random>

#include "engine/emulator/float_formats.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr FloatFormat kBfloat{.exponent_bits = 8, .mantissa_bits = 7};

// What a lane holds: registers of a, b and c, and a word of metadata.
struct Lane {
  std::array<std::uint32_t, 8> a{}, b{}, c{};
  std::array<std::uint32_t, 8> metadata{};
};
static_assert(sizeof(Lane) == 128);

std::string list(int first, int n) {
  std::string s = "{";
  for (int i = 0; i < n; ++i) s += (i == 0 ? "%r" : ", %r") + std::to_string(first + i);
  return s + "}";
}

struct Registers {
  int a = 2, b = 2, c = 4, d = 4;
};

// Executes `opcode` d, a, b, c and `tail`; d replaces c.
void run(const std::string& opcode, const Registers& n, const std::string& tail,
         std::vector<Lane>& lanes) {
  std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 lanes)
{ .reg .b32 %t, %r<40>; .reg .b64 %at;
  mov.u32 %t, %tid.x;
  ld.param.u64 %at, [lanes];
  mad.wide.u32 %at, %t, 128, %at;
)";
  for (int i = 0; i < 32; ++i) {
    text += "  ld.global.b32 %r" + std::to_string(i) + ", [%at+" + std::to_string(4 * i) + "];\n";
  }
  text += "  " + opcode + " " + list(32, n.d) + ", " + list(0, n.a) + ", " + list(8, n.b) + ", " +
          list(16, n.c) + tail + ";\n";
  for (int i = 0; i < n.d; ++i) {
    text += "  st.global.b32 [%at+" + std::to_string(64 + 4 * i) + "], %r" +
            std::to_string(32 + i) + ";\n";
  }
  INFO(opcode);
  const Outcome o = Call("k", {1}, {32}).buffer("lanes", lanes).run(parsed(text + "  ret;\n}\n"));
  INFO(o.message << " " << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
}

std::mt19937 random_source(23);  // NOLINT: the same numbers in every run
int below(int n) { return static_cast<int>(random_source() % static_cast<unsigned>(n)); }

// Elements of so many bits: small whole numbers as the codes of a format, and back.
struct Format {
  int bits = 16;
  std::uint32_t (*encode)(int) = nullptr;
  std::uint32_t sum(int v) const {
    return encode_sum == nullptr ? static_cast<std::uint32_t>(v) : encode_sum(v);
  }
  std::uint32_t (*encode_sum)(int) = nullptr;  // of 32 bits; none: whole numbers
};
std::uint32_t as_f32(int v) { return __builtin_bit_cast(std::uint32_t, static_cast<float>(v)); }
std::uint32_t as_f16(int v) { return encode_float(kHalf, v, false); }
std::uint32_t as_bf16(int v) { return encode_float(kBfloat, v, false); }
std::uint32_t as_e4m3(int v) { return encode_float(kE4m3, v, false); }
std::uint32_t as_e5m2(int v) { return encode_float(kE5m2, v, false); }
std::uint32_t as_byte(int v) { return static_cast<std::uint32_t>(v) & 0xFFU; }
std::uint32_t as_nibble(int v) { return static_cast<std::uint32_t>(v) & 0xFU; }

using Table = std::vector<std::vector<int>>;
Table table(int rows, int columns) {
  return Table(static_cast<std::size_t>(rows), std::vector<int>(static_cast<std::size_t>(columns)));
}
int& at(Table& t, int row, int column) {
  return t[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}
std::uint32_t& reg(std::array<std::uint32_t, 8>& r, int i) {
  return r[static_cast<std::size_t>(i)];
}

// One form of mma.sp, and how far a chunk of metadata reaches: of `chunk` neighbours half are
// stored, `run` of them side by side.
struct Sparse {
  std::string opcode{};
  int k = 16;
  Format format{};
  int chunk = 4;
  int run = 1;
  int lanes_with_metadata = 1;  // of four
};

// A dense matrix with zeros where the form wants them, its metadata and b, in the lanes.
class SparseCase {
 public:
  SparseCase(const Sparse& s, int selector)
      : s_(s), selector_(selector), a_(table(16, s.k)), b_(table(s.k, 8)), c_(table(16, 8)) {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 8; ++j) at(c_, i, j) = below(17) - 8;
      for (int first = 0; first < s.k; first += s.chunk) fill_chunk(i, first);
    }
    for (int i = 0; i < s.k; ++i) {
      for (int j = 0; j < 8; ++j) at(b_, i, j) = below(7) - 3;
    }
    for (int lane = 0; lane < 32; ++lane) fill_lane(lane);
  }

  void check() {
    const Registers n{16 * s_.k / 2 * s_.format.bits / 1024, 8 * s_.k * s_.format.bits / 1024};
    run(s_.opcode, n, ", %r24, " + std::to_string(selector_), lanes_);
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 8; ++j) {
        int sum = at(c_, i, j);
        for (int k = 0; k < s_.k; ++k) sum += at(a_, i, k) * at(b_, k, j);
        const auto& lane = lanes_[static_cast<std::size_t>(i % 8 * 4 + j / 2)];
        INFO(s_.opcode << " row " << i << " column " << j);
        REQUIRE(lane.c[static_cast<std::size_t>(i / 8 * 2 + j % 2)] == s_.format.sum(sum));
      }
    }
  }

 private:
  // Two of the chunk's four runs (one of its two, of 32-bit elements) get numbers.
  void fill_chunk(int row, int first) {
    int one = below(4), two = below(4);
    if (s_.chunk == 2) {
      one = below(2) * 2;  // runs of halves: both of the element's
      two = one + 1;
      at(a_, row, first + one / 2) = below(7) - 3;
    } else {
      while (two == one) two = below(4);
      if (one > two) std::swap(one, two);
      for (int i = 0; i < s_.run; ++i) {
        at(a_, row, first + one * s_.run + i) = 1 + below(3);
        at(a_, row, first + two * s_.run + i) = -1 - below(3);
      }
    }
    chosen_[static_cast<std::size_t>(row)].push_back({one, two});
  }

  // The metadata of a lane: where in its word a chunk of a row stands, by how many lanes share it.
  void fill_metadata(int lane) {
    const int group = lane / 4, in_group = lane % 4;
    const int wide = s_.lanes_with_metadata;
    const int nth = in_group - selector_ * (wide == 4 ? 0 : wide);
    if (nth < 0 || nth >= wide) {
      lanes_[static_cast<std::size_t>(lane)].metadata[0] =
          static_cast<std::uint32_t>(random_source());  // not looked at
      return;
    }
    std::uint32_t word = 0;
    for (int i = 0; i < 8; ++i) {
      // 16-bit and wider: four chunks of the upper row, four of the lower. Else eight of one row.
      const bool halves = s_.format.bits >= 16;
      const int row = group + (halves ? i / 4 : nth % 2) * 8;
      const int chunk = halves ? nth * 4 + i % 4 : nth / 2 * 8 + i;
      const auto [one, two] =
          chosen_[static_cast<std::size_t>(row)][static_cast<std::size_t>(chunk)];
      word |= static_cast<std::uint32_t>(one | two << 2) << (4 * i);
    }
    lanes_[static_cast<std::size_t>(lane)].metadata[0] = word;
  }

  void fill_lane(int lane) {
    auto& l = lanes_[static_cast<std::size_t>(lane)];
    const int group = lane / 4, in_group = lane % 4;
    const int bits = s_.format.bits, per = 32 / bits;
    fill_metadata(lane);
    for (int r = 0; r < 16 * s_.k / 2 * bits / 1024; ++r) {
      // The stored ones of twice as many columns, in their order; even registers are the upper row.
      const int row = group + r % 2 * 8, first = (in_group + r / 2 * 4) * per * 2;
      int filled = 0;
      for (int chunk = first / s_.chunk; filled < per; ++chunk) {
        const auto [one, two] =
            chosen_[static_cast<std::size_t>(row)][static_cast<std::size_t>(chunk)];
        for (const int which : {one, two}) {
          if (s_.chunk == 2 && which % 2 == 1) continue;
          for (int i = 0; i < s_.run; ++i) {
            const int column = chunk * s_.chunk + (s_.chunk == 2 ? which / 2 : which * s_.run + i);
            reg(l.a, r) |= s_.format.encode(at(a_, row, column)) << (bits * filled++);
          }
        }
      }
    }
    for (int r = 0; r < 8 * s_.k * bits / 1024; ++r) {
      for (int i = 0; i < per; ++i) {
        const int row = (in_group + 4 * r) * per + i;
        reg(l.b, r) |= s_.format.encode(at(b_, row, group)) << (bits * i);
      }
    }
    for (int i = 0; i < 4; ++i) {
      reg(l.c, i) = s_.format.sum(at(c_, group + i / 2 * 8, in_group * 2 + i % 2));
    }
  }

  Sparse s_;
  int selector_;
  Table a_, b_, c_;
  std::array<std::vector<std::pair<int, int>>, 16> chosen_{};
  std::vector<Lane> lanes_ = std::vector<Lane>(32);
};

void check_sparse(const Sparse& s) {
  const int choices = 4 / s.lanes_with_metadata;
  for (int selector = 0; selector < choices; ++selector) SparseCase(s, selector).check();
}

}  // namespace

TEST_CASE("a sparse a of 16-bit floats is multiplied where its metadata says") {
  for (const std::string sp : {"mma.sp", "mma.sp::ordered_metadata"}) {
    const auto opcode = [&](int k, const std::string& type) {
      return sp + ".sync.aligned.m16n8k" + std::to_string(k) + ".row.col.f32." + type + "." + type +
             ".f32";
    };
    const Format half{16, &as_f16, &as_f32}, bfloat{16, &as_bf16, &as_f32};
    check_sparse({opcode(16, "f16"), 16, half, 4, 1, 1});
    check_sparse({opcode(32, "f16"), 32, half, 4, 1, 2});
    check_sparse({opcode(16, "bf16"), 16, bfloat, 4, 1, 1});
    check_sparse({opcode(32, "bf16"), 32, bfloat, 4, 1, 2});
  }
}

TEST_CASE("a sparse a of tf32 stores one of two") {
  const Format tf32{32, &as_f32, &as_f32};
  check_sparse({"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, tf32, 2, 1, 1});
  check_sparse({"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 16, tf32, 2, 1, 2});
}

TEST_CASE("a sparse a of integers and 8-bit floats stores half of each chunk") {
  const Format byte{8, &as_byte}, nibble{4, &as_nibble};
  check_sparse({"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, byte, 4, 1, 2});
  check_sparse({"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 64, byte, 4, 1, 4});
  check_sparse({"mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 64, nibble, 8, 2, 2});
  check_sparse(
      {"mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32", 128, nibble, 8, 2, 4});
  check_sparse({"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
                64,
                {8, &as_e4m3, &as_f32},
                4,
                1,
                4});
  check_sparse({"mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32",
                64,
                {8, &as_e5m2, &as_f32},
                4,
                1,
                4});
}

TEST_CASE("what a sparse product skips is not multiplied, not even with infinity") {
  std::vector<Lane> lanes(32);
  for (Lane& l : lanes) {
    l.a = {0x3C003C00, 0x3C003C00};  // ones, in the first two columns of each four
    l.metadata[0] = 0x44444444;      // 0 and 1
    l.b = {0x3C003C00, 0x3C003C00};
  }
  for (int lane = 0; lane < 32; ++lane) {  // rows 2, 3, 6, 7 … of b
    if (lane % 2 == 1) lanes[static_cast<std::size_t>(lane)].b = {0x7C007C00, 0x7C007C00};
  }
  run("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {}, ", %r24, 0", lanes);
  for (const Lane& l : lanes) REQUIRE(l.c[0] == as_f32(8));
}

TEST_CASE("a selector that no lanes answer to is not executed") {
  const auto module = parsed(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{ .reg .b32 %r<8>;
  mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3},
    {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, %r4, 1;
  ret; })");
  REQUIRE(module->kernels().at(0).unsupported_instruction.rfind("mma.sp", 0) == 0);
}

TEST_CASE("mma.m8n8k4 is four products of eight lanes, in every layout and width of its sums") {
  for (int form = 0; form < 12; ++form) {
    const bool a_rows = form % 2 == 0, b_columns = form / 2 % 2 == 0;
    const bool wide_d = form / 4 > 0, wide_c = form / 4 == 2;
    std::vector<Lane> lanes(32);
    std::array<Table, 4> a, b, c;
    for (int q = 0; q < 4; ++q) {
      const auto n = static_cast<std::size_t>(q);
      a[n] = table(8, 4), b[n] = table(4, 8), c[n] = table(8, 8);
      for (auto* t : {&a[n], &b[n], &c[n]}) {
        for (auto& row : *t) {
          for (int& v : row) v = below(9) - 4;
        }
      }
    }
    // Of the lane's accumulator element i: the row and column that the ISA's tables give.
    const auto cell = [](int lane, int i, bool wide) {
      const int upper = lane < 16 ? 0 : 4;
      if (!wide) return std::pair{lane % 4 + upper, i};
      return std::pair{(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
    };
    for (int lane = 0; lane < 32; ++lane) {
      auto& l = lanes[static_cast<std::size_t>(lane)];
      const auto quad = static_cast<std::size_t>(lane % 16 / 4);
      const int own = lane % 4 + (lane < 16 ? 0 : 4), upper = lane < 16 ? 0 : 4;
      for (int i = 0; i < 4; ++i) {
        const int x = a_rows ? at(a[quad], own, i) : at(a[quad], i + upper, lane % 4);
        const int y = b_columns ? at(b[quad], i, own) : at(b[quad], lane % 4, i + upper);
        reg(l.a, i / 2) |= as_f16(x) << (16 * (i % 2));
        reg(l.b, i / 2) |= as_f16(y) << (16 * (i % 2));
      }
      for (int i = 0; i < 8; ++i) {
        const auto [row, column] = cell(lane, i, wide_c);
        const int v = at(c[quad], row, column);
        if (wide_c) {
          reg(l.c, i) = as_f32(v);
        } else {
          reg(l.c, i / 2) |= as_f16(v) << (16 * (i % 2));
        }
      }
    }
    const std::string opcode = std::string("mma.sync.aligned.m8n8k4.") + (a_rows ? "row" : "col") +
                               (b_columns ? ".col" : ".row") + (wide_d ? ".f32" : ".f16") +
                               ".f16.f16" + (wide_c ? ".f32" : ".f16");
    run(opcode, {2, 2, wide_c ? 8 : 4, wide_d ? 8 : 4}, "", lanes);
    for (int lane = 0; lane < 32; ++lane) {
      auto& l = lanes[static_cast<std::size_t>(lane)];
      const auto quad = static_cast<std::size_t>(lane % 16 / 4);
      for (int i = 0; i < 8; ++i) {
        const auto [row, column] = cell(lane, i, wide_d);
        int sum = at(c[quad], row, column);
        for (int k = 0; k < 4; ++k) sum += at(a[quad], row, k) * at(b[quad], k, column);
        INFO(opcode << " lane " << lane << " element " << i);
        const std::uint32_t got =
            wide_d ? reg(l.c, i) : reg(l.c, i / 2) >> (16 * (i % 2)) & 0xFFFFU;
        REQUIRE(got == (wide_d ? as_f32(sum) : as_f16(sum)));
      }
    }
  }
}

TEST_CASE("a product of doubles is rounded as it says") {
  // 1 + 2^-60 in every element of the sum: more than one, less than the next double.
  for (const auto& [rounding, want] :
       {std::pair{".rn", 1.0}, {".rz", 1.0}, {".rm", 1.0}, {".rp", 1.0 + 0x1p-52}}) {
    std::vector<double> a(32), b(32, 0x1p-60), c(64, 1.0);
    for (std::size_t lane = 0; lane < 32; lane += 4) a[lane] = 1.0;
    const std::string text = std::string(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{ .reg .b32 %t; .reg .b64 %at, %x, %y, %c0, %c1;
  mov.u32 %t, %tid.x;
  ld.param.u64 %at, [a]; mad.wide.u32 %at, %t, 8, %at; ld.global.b64 %x, [%at];
  ld.param.u64 %at, [b]; mad.wide.u32 %at, %t, 8, %at; ld.global.b64 %y, [%at];
  ld.param.u64 %at, [c]; mad.wide.u32 %at, %t, 16, %at; ld.global.v2.b64 {%c0, %c1}, [%at];
  mma.sync.aligned.m8n8k4.row.col)") +
                             rounding + R"(.f64.f64.f64.f64 {%c0, %c1}, {%x}, {%y}, {%c0, %c1};
  st.global.v2.b64 [%at], {%c0, %c1};
  ret; })";
    const Outcome o =
        Call("k", {1}, {32}).buffer("a", a).buffer("b", b).buffer("c", c).run(parsed(text));
    INFO(rounding << o.message);
    REQUIRE(o.ending == Ending::completed);
    for (const double v : c) REQUIRE(v == want);
  }
}
