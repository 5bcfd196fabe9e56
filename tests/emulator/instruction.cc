#include "tests/emulator/instruction.h"

#include <cstring>
#include <random>
#include <set>

#include "engine/emulator/emulator.h"
#include "engine/emulator/op.h"
#include "tests/catch.h"

namespace assay::emulator::test {
namespace {

constexpr std::string_view kHead = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p, %q, %pc, %odd, %end;
  .reg .b32 %i, %n, %t, %t2, %lane;
  .reg .b64 %base, %at, %w;
)";

std::string declare(std::string_view name, std::string_view type) {
  if (type.empty() || type == "pred") return {};
  return "  .reg ." + std::string(type) + " %" + std::string(name) + ";\n";
}

std::string fetch(std::string_view name, std::string_view type, int offset) {
  if (type.empty()) return {};
  return "  ld.global." + std::string(type) + " %" + std::string(name) + ", [%at+" +
         std::to_string(offset) + "];\n";
}

// Stores d (of whatever width) as 64 bits; predicates as bits 0 (p) and 1 (q).
std::string finish(std::string_view d) {
  if (d == "pred") {
    return "  selp.b32 %t, 1, 0, %p;\n  selp.b32 %t2, 2, 0, %q;\n  or.b32 %t, %t, %t2;\n"
           "  cvt.u64.u32 %w, %t;\n";
  }
  if (d == "b64") return "  mov.b64 %w, %d;\n";
  return "  cvt.u64.u" + std::string(d.substr(1)) + " %w, %d;\n";
}

std::string off_value(std::string_view d) {
  if (d == "pred") return "  setp.ne.u32 %p, 0, 0;\n  setp.ne.u32 %q, 0, 0;\n";
  const char* const value = d == "b16"   ? "0xF00D"
                            : d == "b32" ? "0xCAFEF00D"
                                         : "0xDEADBEEFCAFEF00D";
  return "  mov." + std::string(d) + " %d, " + value + ";\n";
}

std::string kernel(const Instruction& x, bool masked) {
  std::string s(kHead);
  s += declare("d", x.d) + declare("a", x.a) + declare("b", x.b) + declare("c", x.c);
  s += R"(
  ld.param.u64 %base, [in];
  ld.param.u32 %n, [n];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, 64, %t;
  setp.ge.u32 %end, %i, %n;
  @%end bra DONE;
  mad.wide.u32 %at, %i, 24, %base;
)";
  s += fetch("a", x.a, 0) + fetch("b", x.b, 8) + fetch("c", x.c, 16);
  s += "  ld.global.u32 %t, [%at+16];\n  and.b32 %t, %t, 1;\n  setp.ne.u32 %pc, %t, 0;\n";
  s += off_value(x.d);
  if (masked) {
    s += "  mov.u32 %lane, %laneid;\n  and.b32 %lane, %lane, 1;\n  setp.ne.u32 %odd, %lane, 0;\n";
    s += "  @%odd bra SKIP;\n  " + x.text + "\nSKIP:\n";
  } else {
    s += "  " + x.text + "\n";
  }
  s += finish(x.d);
  s += "  ld.param.u64 %base, [out];\n  mad.wide.u32 %at, %i, 8, %base;\n"
       "  st.global.u64 [%at], %w;\nDONE:\n  ret;\n}\n";
  return s;
}

Bits off_bits(std::string_view d) {
  if (d == "pred") return 0;
  return d == "b16" ? kOff & 0xFFFF : d == "b32" ? kOff & 0xFFFFFFFF : kOff;
}

}  // namespace

std::vector<Bits> run(const Instruction& x, const std::vector<Inputs>& inputs, bool masked) {
  const std::string text = kernel(x, masked);
  auto parsed = Module::parse(text);
  if (const auto* e = std::get_if<ParseError>(&parsed)) {
    FAIL(x.text << ": line " << e->ptx_line << ": " << e->message << "\n" << text);
  }
  const auto module = std::get<std::shared_ptr<const Module>>(parsed);
  INFO(x.text);
  REQUIRE(module->kernels().at(0).unsupported_instruction == "");
  std::vector<Bits> out(inputs.size(), 0x5A5A5A5A5A5A5A5A);
  std::vector<Inputs> in = inputs;
  Launch launch{.kernel = "k"};
  launch.grid.x = static_cast<std::uint32_t>((inputs.size() + 63) / 64);
  launch.block.x = 64;
  launch.parameters.resize(20);
  const std::uint64_t addresses[2] = {0x10000, 0x4000000};
  const auto n = static_cast<std::uint32_t>(inputs.size());
  std::memcpy(launch.parameters.data(), addresses, 16);
  std::memcpy(launch.parameters.data() + 16, &n, 4);
  const std::vector<Buffer> buffers{
      {.address = addresses[0], .bytes = std::as_writable_bytes(std::span(in)), .name = "in"},
      {.address = addresses[1], .bytes = std::as_writable_bytes(std::span(out)), .name = "out"}};
  Device device(module);
  const Outcome o = device.launch(launch, buffers, {.threads = 1}, {});
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  return out;
}

void check(const Instruction& x, const std::vector<Inputs>& inputs, const Model& model) {
  for (const char* set : {"portable", "avx2"}) {
    if (!use_instruction_set(set)) continue;
    for (const bool masked : {false, true}) {
      const std::vector<Bits> got = run(x, inputs, masked);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Inputs& in = inputs[i];
        const bool off = masked && i % 2 == 1;
        const Bits want = off ? off_bits(x.d) : model(in.a, in.b, in.c);
        if (got[i] == want) continue;
        use_instruction_set("");
        FAIL(set << (masked ? " masked " : " ") << x.text << std::hex << "\n a=0x" << in.a
                 << " b=0x" << in.b << " c=0x" << in.c << "\n got 0x" << got[i] << "\nwant 0x"
                 << want);
      }
    }
  }
  use_instruction_set("");
  SUCCEED(x.text);
}

std::vector<Bits> integers(unsigned width) {
  const Bits mask = width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
  std::set<Bits> s;
  for (const Bits v :
       {Bits{0}, Bits{1}, Bits{2}, Bits{3}, Bits{7}, Bits{15}, Bits{16}, Bits{31}, Bits{32},
        Bits{33}, Bits{63}, Bits{64}, Bits{255}, Bits{256}, Bits{1000003}}) {
    s.insert(v & mask);
    s.insert((0 - v) & mask);
  }
  const Bits top = Bits{1} << (width - 1);
  for (const Bits v : {top, top - 1, top + 1, mask, Bits{0xFFFFFFFF} & mask,
                       Bits{0x123456789ABCDEF0} & mask, Bits{0x80000000} & mask}) {
    s.insert(v);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 12; ++i) s.insert(random() & mask);
  return {s.begin(), s.end()};
}

std::vector<Bits> floats32() {
  std::vector<Bits> v{0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x00000001, 0x80000001,
                      0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
                      0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x3F000000, 0x3FC00000,
                      0x40200000, 0xC0200000, 0x4F000000, 0xCF000000, 0x5F000000, 0x4EFFFFFF,
                      0x3EAAAAAB, 0x40490FDB, 0x42F00000, 0xC3160000, 0x7E800000, 0x7F000001};
  std::mt19937 random(11);
  for (int i = 0; i < 14; ++i) v.push_back(random());
  for (int i = 0; i < 10; ++i) v.push_back(0x3F000000U + (random() & 0x01FFFFFFU));
  return v;
}

std::vector<Bits> floats64() {
  std::vector<Bits> v;
  for (const Bits f : floats32()) {
    const double d = static_cast<double>(as_float(f));
    if (d == d) v.push_back(bits(d));
  }
  for (const Bits b :
       {Bits{1}, Bits{0x8000000000000001}, Bits{0x000FFFFFFFFFFFFF}, Bits{0x7FEFFFFFFFFFFFFF},
        Bits{0x7FF8000000000000}, Bits{0x43F0000000000000}, Bits{0x43E0000000000000},
        Bits{0xC3E0000000000001}, Bits{0x3FF0000000000001}}) {
    v.push_back(b);
  }
  std::mt19937_64 random(13);
  for (int i = 0; i < 14; ++i) v.push_back(0x3FD0000000000000ULL + (random() >> 8));
  return v;
}

std::vector<Bits> halves() {
  std::vector<Bits> v{0x0000, 0x8000, 0x3C00, 0xBC00, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF,
                      0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x3555, 0x4248, 0x6400, 0x1400};
  std::mt19937 random(17);
  for (int i = 0; i < 22; ++i) v.push_back(random() & 0xFFFFU);
  return v;
}

std::vector<Bits> bfloats() {
  std::vector<Bits> v{0x0000, 0x8000, 0x3F80, 0xBF80, 0x0001, 0x8001, 0x007F, 0x0080, 0x7F7F,
                      0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x3EAB, 0x4049, 0x4B00, 0x3300};
  std::mt19937 random(19);
  for (int i = 0; i < 20; ++i) v.push_back(random() & 0xFFFFU);
  return v;
}

// All pairs of a and b; c cycles, so that every value of c meets many pairs.
std::vector<Inputs> combine(const std::vector<Bits>& a, const std::vector<Bits>& b,
                            const std::vector<Bits>& c) {
  std::vector<Inputs> all;
  std::size_t i = 0;
  for (const Bits x : a) {
    for (const Bits y : b) {
      all.push_back({x, y, c[i++ % c.size()]});
      if (c.size() > 1) all.push_back({x, y, c[(i * 7 + 3) % c.size()]});
    }
    ++i;
  }
  return all;
}

Instruction unary(const std::string& opcode, std::string_view d, std::string_view a) {
  return {.text = opcode + (d == "pred" ? " %p, %a;" : " %d, %a;"), .d = d, .a = a};
}
Instruction binary(const std::string& opcode, std::string_view d, std::string_view a,
                   std::string_view b) {
  return {.text = opcode + (d == "pred" ? " %p, %a, %b;" : " %d, %a, %b;"), .d = d, .a = a, .b = b};
}
Instruction ternary(const std::string& opcode, std::string_view d, std::string_view a,
                    std::string_view b, std::string_view c) {
  return {.text = opcode + " %d, %a, %b, %c;", .d = d, .a = a, .b = b, .c = c};
}

}  // namespace assay::emulator::test
