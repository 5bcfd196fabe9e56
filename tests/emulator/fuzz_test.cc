// Programs that nobody would write: PTX mutated at random, and straight lines of random
// instructions against a scalar model. Whatever comes, the emulator ends with a verdict.
#include <random>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

// One to four edits: bytes changed, lines dropped, doubled or swapped, the end cut off.
std::string mutated(const std::string& text, std::mt19937& random) {
  std::string s = text;
  const int edits = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < edits && !s.empty(); ++i) {
    const std::size_t at = random() % s.size();
    const std::size_t line = s.rfind('\n', at) == std::string::npos ? 0 : s.rfind('\n', at);
    const std::size_t end = std::min(s.find('\n', at), s.size());
    switch (random() % 6) {
      case 0:
        s[at] = static_cast<char>(random());
        break;
      case 1:
        s.erase(line, end - line);
        break;
      case 2:
        s.insert(line, s.substr(line, end - line));
        break;
      case 3:
        s.resize(at);
        break;
      case 4:
        s.insert(at, std::to_string(random()));
        break;
      default:
        s.insert(at, s.substr(random() % s.size(), 20));
        break;
    }
  }
  return s;
}

void launch_all(const Module& module, const std::shared_ptr<const Module>& shared) {
  for (const KernelInfo& k : module.kernels()) {
    if (k.parameter_bytes > 4096) continue;
    std::vector<float> memory(1024);
    Launch launch{.kernel = k.name, .grid = {2}, .block = {64}};
    launch.dynamic_shared_bytes = 1024;
    launch.inspection = {
        .races = true, .initialised = true, .barriers = true, .numbers = true, .counters = true};
    launch.parameters.resize(k.parameter_bytes);
    const std::uint64_t address = 0x7F00'0000'0000;
    for (std::size_t at = 0; at + 8 <= k.parameter_bytes; at += 8) {
      std::memcpy(launch.parameters.data() + at, &address, 8);
    }
    const std::vector<Buffer> buffers{
        {.address = address, .bytes = std::as_writable_bytes(std::span(memory)), .name = "m"}};
    Device device(shared);
    const Outcome o =
        device.launch(launch, buffers,
                      {.thread_instructions = 20'000, .memory_bytes = 64U << 20, .threads = 1}, {});
    REQUIRE(!name(o.ending).empty());
  }
}

// --- straight lines of random instructions ---
struct Step {
  int operation = 0;
  int d = 0, a = 0, b = 0, c = 0;
};
constexpr int kRegisters = 6;
constexpr std::array<const char*, 14> kOpcodes{
    "add.u32",    "sub.u32", "mul.lo.u32", "mul.hi.u32", "and.b32", "or.b32",   "xor.b32",
    "mad.lo.u32", "min.s32", "max.u32",    "shl.b32",    "shr.s32", "popc.b32", "selp.b32"};

std::uint32_t model(const Step& s, const std::array<std::uint32_t, kRegisters>& r) {
  const std::uint32_t a = r[static_cast<std::size_t>(s.a)];
  const std::uint32_t b = r[static_cast<std::size_t>(s.b)];
  const std::uint32_t c = r[static_cast<std::size_t>(s.c)];
  const auto signed_a = static_cast<std::int64_t>(static_cast<std::int32_t>(a));
  const auto signed_b = static_cast<std::int64_t>(static_cast<std::int32_t>(b));
  switch (s.operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    case 4:
      return a & b;
    case 5:
      return a | b;
    case 6:
      return a ^ b;
    case 7:
      return a * b + c;
    case 8:
      return signed_a < signed_b ? a : b;
    case 9:
      return a > b ? a : b;
    case 10:
      return b > 31 ? 0 : a << b;
    case 11:
      return static_cast<std::uint32_t>(signed_a >> (b > 31 ? 31 : b));
    case 12: {
      std::uint32_t n = 0;
      for (std::uint32_t v = a; v != 0; v >>= 1) n += v & 1U;
      return n;
    }
    default:
      return (c & 1U) != 0 ? a : b;
  }
}

std::string text_of_step(const Step& s, bool divergent, int label) {
  const auto r = [](int i) { return "%r" + std::to_string(i); };
  std::string t;
  const std::string skip = "SKIP" + std::to_string(label);
  if (divergent) {
    t += "  and.b32 %t, " + r(s.c) + ", 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra " + skip + ";\n";
  }
  const std::string op = kOpcodes[static_cast<std::size_t>(s.operation)];
  t += "  ";
  if (op == "selp.b32") {
    t += "and.b32 %t, " + r(s.c) + ", 1;\n  setp.ne.u32 %q, %t, 0;\n  ";
  }
  t += op + " " + r(s.d) + ", " + r(s.a);
  if (op != "popc.b32") t += ", " + r(s.b);
  if (op == "mad.lo.u32") t += ", " + r(s.c);
  if (op == "selp.b32") t += ", %q";
  t += ";\n";
  return divergent ? t + skip + ":\n" : t;
}

}  // namespace

TEST_CASE("mutated programs are refused, run or faulted, and never more than that") {
  std::mt19937 random(2026);
  const std::array<std::string, 4> seeds{ptx_file("elementwise"), ptx_file("control"),
                                         ptx_file("faults"), ptx_file("cooperative")};
  int parsed_ones = 0;
  for (int i = 0; i < 400; ++i) {
    const auto m =
        Module::parse(mutated(seeds[static_cast<std::size_t>(i) % seeds.size()], random));
    if (std::holds_alternative<ParseError>(m)) continue;
    ++parsed_ones;
    const auto module = std::get<std::shared_ptr<const Module>>(m);
    if (parsed_ones % 4 == 0) launch_all(*module, module);
  }
  REQUIRE(parsed_ones > 20);  // else nothing but the parser was tried
}

TEST_CASE("random straight and divergent programs do what a scalar model says") {
  std::mt19937 random(99);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int program = 0; program < 60; ++program) {
    std::vector<Step> steps(30);
    std::vector<bool> divergent(steps.size());
    std::string body;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] = {pick(static_cast<int>(kOpcodes.size())), pick(kRegisters), pick(kRegisters),
                  pick(kRegisters), pick(kRegisters)};
      divergent[i] = pick(4) == 0;
      body += text_of_step(steps[i], divergent[i], static_cast<int>(i));
    }
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 m)\n{\n"
        "  .reg .b32 %r<6>, %t, %i; .reg .b64 %at; .reg .pred %p, %q;\n"
        "  ld.param.u64 %at, [m]; mov.u32 %i, %tid.x; mad.wide.u32 %at, %i, 24, %at;\n"
        "  ld.global.v2.b32 {%r0, %r1}, [%at]; ld.global.v2.b32 {%r2, %r3}, [%at+8];\n"
        "  ld.global.v2.b32 {%r4, %r5}, [%at+16];\n" +
        body +
        "  st.global.v2.b32 [%at], {%r0, %r1}; st.global.v2.b32 [%at+8], {%r2, %r3};\n"
        "  st.global.v2.b32 [%at+16], {%r4, %r5};\n  ret;\n}\n";
    std::vector<std::uint32_t> memory(64 * kRegisters);
    for (auto& v : memory) v = static_cast<std::uint32_t>(pick(3) == 0 ? random() % 40 : random());
    std::vector<std::uint32_t> want = memory;
    for (std::size_t lane = 0; lane < 64; ++lane) {
      std::array<std::uint32_t, kRegisters> r{};
      std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(lane * kRegisters), kRegisters,
                  r.begin());
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (divergent[i] && (r[static_cast<std::size_t>(steps[i].c)] & 1U) != 0) continue;
        r[static_cast<std::size_t>(steps[i].d)] = model(steps[i], r);
      }
      std::copy(r.begin(), r.end(), want.begin() + static_cast<std::ptrdiff_t>(lane * kRegisters));
    }
    INFO(text);
    REQUIRE(Call("k", {1}, {64}).buffer("m", memory).run(parsed(text)).ending == Ending::completed);
    REQUIRE(memory == want);
  }
}

TEST_CASE("bad programs and launches get a clear answer in bounded memory") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const auto entry = [&](const std::string& body) {
    return head + ".entry k(.param .u64 m)\n{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;\n" +
           body + "\nret; }\n";
  };
  SECTION("a version that does not exist yet is read as far as it is known") {
    std::string text = entry("mov.u32 %r0, 1;");
    text.replace(text.find("8.0"), 3, "99.9");
    const auto m = Module::parse(text);
    if (const auto* e = std::get_if<ParseError>(&m)) {
      REQUIRE(e->ptx_line == 1);
    } else {
      REQUIRE(std::get<0>(m)->kernels().size() == 1);
    }
  }
  SECTION("every truncation of a program is an error or a shorter program") {
    const std::string text = entry("mov.u32 %r0, 1; add.u32 %r1, %r0, %r0;");
    for (std::size_t n = 0; n < text.size(); ++n) {
      const auto m = Module::parse(text.substr(0, n));
      if (const auto* e = std::get_if<ParseError>(&m)) REQUIRE(!e->message.empty());
    }
  }
  SECTION("an unknown opcode is named") {
    const auto m = parsed(entry("quantum.flip.u32 %r0, %r1;"));
    REQUIRE(m->kernels()[0].unsupported_instruction == "quantum.flip.u32 %r0, %r1");
    REQUIRE(m->kernels()[0].unsupported_ptx_line == 6);
  }
  SECTION("a million lines are read and run") {
    std::string body;
    for (int i = 0; i < 1'000'000; ++i) body += "add.u32 %r0, %r0, 1;\n";
    const auto m = parsed(entry(body + "ld.param.u64 %d0, [m]; st.global.u32 [%d0], %r0;"));
    std::vector<std::uint32_t> out(1);
    REQUIRE(Call("k", {1}, {1}).buffer("m", out).run(m).ending == Ending::completed);
  }
  SECTION("200 KiB of dynamic shared memory are there, 300 are not") {
    const auto m = parsed(entry("mov.u32 %r0, 1;"));
    std::vector<float> memory(1);
    REQUIRE(Call("k", {1}, {32}).buffer("m", memory).shared(200U << 10).run(m).ending ==
            Ending::completed);
    const Outcome o = Call("k", {1}, {32}).buffer("m", memory).shared(300U << 10).run(m);
    REQUIRE(o.ending == Ending::invalid_launch);
    REQUIRE(o.message.find("232448") != std::string::npos);
  }
  SECTION("a grid of 2^31 - 1 blocks runs until its budget, one of 2^31 is refused") {
    const auto m = parsed(entry("mov.u32 %r0, 1;"));
    std::vector<float> memory(1);
    REQUIRE(Call("k", {2147483647U}, {1})
                .buffer("m", memory)
                .budget({.thread_instructions = 100'000, .threads = 1})
                .run(m)
                .ending == Ending::budget_instructions);
    REQUIRE(Call("k", {2147483648U}, {1}).buffer("m", memory).run(m).ending ==
            Ending::invalid_launch);
  }
  SECTION("operands of no sense are unsupported, not executed") {
    for (const char* instruction :
         {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};",
          "mma.sync.aligned.m3n5k7.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};",
          "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%d0];",
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0}, [%r1];",
          "mbarrier.init.shared.b64 [%d0];", "cp.async.bulk.shared.shared [%d0], [%d1], 16;",
          "cvt.rn.satfinite.e4m3x2.f32 %r0, %r1;", "lop3.or.b32 %r0, %r1, %r2, %r3, 1;",
          "atom.global.add.v4.f32 {%r0}, [%d0], {%r0};", "vadd9.u32.u32.u32 %r0, %r1, %r2, %r3;",
          "alloca.u64 %r0, %d0;"}) {
      INFO(instruction);
      const auto m = parsed(entry(instruction));
      REQUIRE(!m->kernels()[0].unsupported_instruction.empty());
    }
  }
}
