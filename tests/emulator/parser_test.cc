#include <string>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr std::string_view kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

ParseError refused(const std::string& body) {
  const auto m = Module::parse(std::string(kHead) + body);
  INFO(body);
  REQUIRE(std::holds_alternative<ParseError>(m));
  return std::get<ParseError>(m);
}

std::string unsupported(const std::string& instruction) {
  const auto m = parsed(std::string(kHead) +
                        ".entry k() { .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; "
                        ".reg .pred %p<3>;\n" +
                        instruction + "\nret; }");
  return m->kernels().at(0).unsupported_instruction;
}

}  // namespace

TEST_CASE("a kernel's parameters are laid out by their alignment") {
  const auto m = parsed(std::string(kHead) +
                        ".visible .entry k(.param .u32 a, .param .u64 .ptr .global .align 4 b,"
                        ".param .align 16 .b8 c[20], .param .u8 d) .maxntid 64, 2, 1\n"
                        "{ .shared .align 8 .b8 s[100]; .reg .b32 %r;"
                        " mov.u32 %r, s; ret; }");
  const KernelInfo& k = m->kernels().at(0);
  REQUIRE(k.parameters.size() == 4);
  REQUIRE(k.parameters[1].offset_bytes == 8);
  REQUIRE(k.parameters[1].type == "u64");
  REQUIRE(k.parameters[2].offset_bytes == 16);
  REQUIRE(k.parameters[2].size_bytes == 20);
  REQUIRE(k.parameters[3].offset_bytes == 36);
  REQUIRE(k.parameter_bytes == 37);
  REQUIRE(k.max_threads == 128);
  REQUIRE(k.static_shared_bytes == 100);
}

TEST_CASE("errors carry the line they stand in") {
  REQUIRE(refused(".entry k() {\n\n  add.u32 %r1 %r2;\n}").ptx_line == 6);
  REQUIRE(refused(".entry k() {\n  bra NOWHERE;\n}").ptx_line == 5);
  REQUIRE(refused(".nonsense 5").ptx_line == 4);
  REQUIRE(refused(".entry k() { ret;").message.find("the text ends") != std::string::npos);
  REQUIRE(refused(".entry k() {\nL:\nL:\nret; }").ptx_line == 6);
}

TEST_CASE("what is no PTX is refused") {
  for (const std::string_view text :
       {"", "hello", "\0\0\0\0", "int main() {}", ".version", ".version x", ".version 8.0 }{",
        "// only a comment", "/* unfinished", "\xFF\xFE\x80"}) {
    REQUIRE(std::holds_alternative<ParseError>(Module::parse(text)));
  }
}

TEST_CASE("unknown opcodes and modifiers are unsupported, not ignored") {
  REQUIRE(unsupported("frobnicate.u32 %r1, %r2;") == "frobnicate.u32 %r1, %r2");
  REQUIRE(unsupported("add.sideways.u32 %r1, %r2, %r3;") != "");
  REQUIRE(unsupported("add.u32 %r1, %r2;") != "");
  REQUIRE(unsupported("add.u32 %rd1, %r2, %r3;") != "");
  REQUIRE(unsupported("add.u32 %r1, %undeclared, %r3;") != "");
  REQUIRE(unsupported("tex.3d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%f3,%f3}];") != "");
  REQUIRE(unsupported("add.u32 %r1, %r2, %r3;") == "");
  REQUIRE(unsupported("mov.pred %p1, 0;") == "");
  REQUIRE(unsupported("ld.global.L2::256B.b32 %r1, [%rd1];") == "");
  REQUIRE(unsupported("{.reg.b32 f; mov.b32 f, %r1; mov.b32 %r2, f;}") == "");
}

TEST_CASE("an unsupported instruction in a function reached by call is the kernel's") {
  const auto m = parsed(std::string(kHead) +
                        ".func deep() { wgmma.fence.sync.aligned; ret; }\n"
                        ".func outer() { call deep; ret; }\n"
                        ".func unused() { bogus.op; ret; }\n"
                        ".entry good() { ret; }\n"
                        ".entry bad() { call outer; ret; }");
  REQUIRE(m->kernels().at(0).unsupported_instruction == "");
  REQUIRE(m->kernels().at(1).unsupported_instruction == "wgmma.fence.sync.aligned");
}

TEST_CASE("labels and registers in braces belong to them") {
  const auto m = parsed(std::string(kHead) + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 0;
  { .reg .b32 %r1; mov.u32 %r1, 3;
    LOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra LOOP; }
  { .reg .b32 %x; mov.u32 %x, 2;
    LOOP: sub.u32 %x, %x, 1; add.u32 %r1, %r1, 5; setp.ne.u32 %p, %x, 0; @%p bra LOOP; }
  st.global.u32 [%rd1], %r1;
  ret;
})");
  std::vector<unsigned> out(1);
  REQUIRE(Call("k", {1}, {1}).buffer("out", out).run(m).ending == Ending::completed);
  REQUIRE(out[0] == 10);
}

TEST_CASE("initialisers hold numbers, floats, expressions and addresses") {
  const auto m = parsed(std::string(kHead) + R"(
.global .align 4 .b32 numbers[6] = {1, -2, 0x10, (3 + 4) * 2, 0b101};
.global .f32 pi = 0f40490FDB;
.global .f64 e[2] = {2.5, 0d4005BF0A8B145769};
.global .u64 where[1] = {generic(numbers) + 8};
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [numbers+4];  st.global.u32 [%rd1], %r1;
  ld.global.u32 %r1, [numbers+12]; st.global.u32 [%rd1+4], %r1;
  ld.global.u32 %r1, [numbers+20]; st.global.u32 [%rd1+8], %r1;
  ld.global.u64 %rd2, [where];     ld.u32 %r1, [%rd2]; st.global.u32 [%rd1+12], %r1;
  ld.global.u32 %r1, [pi];         st.global.u32 [%rd1+16], %r1;
  ld.global.u64 %rd2, [e];         st.global.u64 [%rd1+24], %rd2;
  ret;
})");
  std::vector<unsigned> out(8);
  REQUIRE(Call("k", {1}, {1}).buffer("out", out).run(m).ending == Ending::completed);
  REQUIRE(out[0] == 0xFFFFFFFE);
  REQUIRE(out[1] == 14);
  REQUIRE(out[2] == 0);
  REQUIRE(out[3] == 16);
  REQUIRE(out[4] == 0x40490FDB);
  REQUIRE(out[7] == 0x40040000);
}

TEST_CASE("every prefix of a module parses or is refused") {
  for (const char* file : {"elementwise", "cooperative", "control", "faults"}) {
    const std::string text = ptx_file(file);
    for (std::size_t n = 0; n < text.size(); n += 97) (void)Module::parse(text.substr(0, n));
  }
  SUCCEED("no crash");
}

TEST_CASE("absurd sizes and depths are refused within bounds") {
  REQUIRE(std::holds_alternative<ParseError>(
      Module::parse(std::string(kHead) + ".global .b8 x[99999999999999999];")));
  (void)refused(".entry k() { .local .b8 x[1099511627776]; ret; }");
  (void)refused(".global .u32 x = " + std::string(100000, '(') + "1;");
  (void)refused(".global .u32 x[1] = " + std::string(100000, '{') + "1;");
  (void)refused(".entry k() { add.u32 " + std::string(100000, '{') + ";}");
  std::string many = std::string(kHead) + ".entry k() { .reg .b32 %r<2>;\n";
  for (int i = 0; i < 200000; ++i) many += "add.u32 %r0, %r0, %r1;\n";
  REQUIRE(std::holds_alternative<std::shared_ptr<const Module>>(Module::parse(many + "}")));
}
