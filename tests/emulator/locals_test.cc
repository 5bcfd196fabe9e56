// Uninitialised locals of a debug build: planted mistakes of locals.cu, each told by the name of
// its variable, and kernels whose unwritten locals have no effect, about which nothing may be said.
#include <algorithm>
#include <random>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr Inspection kLocals{.locals = true};

std::shared_ptr<const Module> locals() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("locals"));
  return module;
}

struct Memory {
  std::vector<float> a = std::vector<float>(128);
  std::vector<float> b = std::vector<float>(128, -1.0F);
  std::vector<int> c = std::vector<int>(128);
};

Outcome look(const std::string& kernel, const Inspection& inspection = kLocals,
             const Budget& budget = {.threads = 1}) {
  Memory m;
  for (std::size_t i = 0; i < m.a.size(); ++i) m.a[i] = static_cast<float>(i % 7 + 1);
  return Call(kernel, {2}, {64})
      .buffer("a", m.a)
      .buffer("b", m.b)
      .buffer("c", m.c)
      .value(128)
      .inspect(inspection)
      .budget(budget)
      .run(locals());
}

std::string told(const Outcome& o) {
  std::string s = std::string(name(o.ending)) + " " + o.message;
  for (const Finding& f : o.findings) {
    s += "\n  line " + std::to_string(f.where.line) + ": " + f.message;
  }
  for (const std::string& note : o.inspection_notes) s += "\n  (" + note + ")";
  return s;
}

// `missing__acc` promises a finding about 'acc'.
bool keeps_promise(const std::string& kernel, const Outcome& o) {
  const std::string variable = kernel.substr(kernel.find("__") + 2);
  return std::any_of(o.findings.begin(), o.findings.end(), [&](const Finding& f) {
    return f.kind == FindingKind::uninitialised_local && f.buffer == variable && f.where.line > 0;
  });
}

}  // namespace

TEST_CASE("an uninitialised local that has an effect is told by its name") {
  int planted = 0;
  for (const KernelInfo& k : locals()->kernels()) {
    if (!k.name.starts_with("missing__")) continue;
    const Outcome o = look(k.name);
    INFO(k.name << ": " << told(o));
    CHECK(keeps_promise(k.name, o));
    CHECK(o.findings.size() == 1);
    ++planted;
  }
  REQUIRE(planted >= 16);
}

TEST_CASE("an uninitialised local without an effect is no mistake") {
  int clean = 0;
  for (const KernelInfo& k : locals()->kernels()) {
    if (!k.name.starts_with("clean__")) continue;
    const Outcome o = look(k.name);
    INFO(k.name << ": " << told(o));
    CHECK(o.ending == Ending::completed);
    CHECK(o.findings.empty());
    CHECK(o.inspection_notes.empty());
    ++clean;
  }
  REQUIRE(clean >= 10);
}

TEST_CASE("a matrix in registers that nobody filled is told by its name, one that is, is not") {
  const auto module = parsed(ptx_file("fragments"));
  std::size_t looked_at = 0;
  for (const KernelInfo& k : module->kernels()) {
    std::vector<std::uint16_t> a(256, 0x3C00);  // ones
    std::vector<float> b(256);
    std::vector<std::uint16_t> c(256);
    const Outcome o = Call(k.name, {1}, {32})
                          .buffer("a", a)
                          .buffer("b", b)
                          .buffer("c", c)
                          .inspect(kLocals)
                          .run(module);
    INFO(k.name << ": " << told(o));
    REQUIRE(o.ending == Ending::completed);
    CHECK(o.inspection_notes.empty());
    if (k.name.starts_with("missing__")) {
      CHECK(keeps_promise(k.name, o));
      REQUIRE(o.findings.size() == 1);
      CHECK(o.findings[0].where.file == "fragments.cu");
    } else {
      CHECK(o.findings.empty());
    }
    ++looked_at;
  }
  REQUIRE(looked_at == 8);
}

TEST_CASE("a finding about a local names line, thread, and the element it ends up in") {
  const Outcome o = look("missing__lane_value");
  REQUIRE(o.findings.size() == 1);
  const Finding& f = o.findings[0];
  CHECK(f.thread.x == 37);
  CHECK(f.block.x == 0);
  CHECK(f.message.find("local 'lane_value'") != std::string::npos);
  CHECK(f.message.find("element 37 of 'b'") != std::string::npos);
  const Outcome table = look("missing__table");
  REQUIRE(table.findings.size() == 1);
  CHECK(table.findings[0].buffer_offset_bytes % 8 == 4);
}

TEST_CASE(
    "a finding inside a called function tells the call, and one without lines is its caller's") {
  const Outcome o = look("missing__least");
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].message.find("decides a branch") != std::string::npos);
  REQUIRE(o.findings[0].inlined_at.size() == 1);
  CHECK(o.findings[0].inlined_at[0].line > o.findings[0].where.line);
  const Outcome added = look("missing__added");
  REQUIRE(added.findings.size() == 1);
  CHECK(added.findings[0].where.line > 0);
}

TEST_CASE("a search for locals leaves the buffers as they were and says the same every time") {
  Memory m;
  for (std::size_t i = 0; i < m.a.size(); ++i) m.a[i] = static_cast<float>(i % 7 + 1);
  const Memory before = m;
  Device device(locals());
  Call call("missing__acc", {2}, {64});
  call.buffer("a", m.a).buffer("b", m.b).buffer("c", m.c).value(128).inspect(kLocals);
  const Outcome first = call.run(device);
  CHECK(m.b == before.b);
  CHECK(m.c == before.c);
  CHECK(told(call.run(device)) == told(first));
}

TEST_CASE("a search for locals that is cut short says how far it came") {
  const Outcome o = look("missing__best", kLocals, {.thread_instructions = 64, .threads = 1});
  REQUIRE(o.inspection_notes.size() == 1);
  CHECK(o.inspection_notes[0].find("in the first") != std::string::npos);
}

TEST_CASE("without a debug build locals are not looked at, and the answer says so") {
  std::vector<int> out(32);
  const Outcome o = Call("k", {1}, {32}).buffer("out", out).inspect(kLocals).run(parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) { ret; })"));
  REQUIRE(o.inspection_notes.size() == 1);
  CHECK(o.inspection_notes[0].find("no debug build") != std::string::npos);
  CHECK(o.findings.empty());
}

TEST_CASE("what a function without a return statement gives back is told") {
  const Outcome o = look("unnamed__result_that_is_not_returned");
  INFO(told(o));
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].thread.x == 1);
  CHECK(o.findings[0].where.line > 0);
}

TEST_CASE("debug information that was tampered with is read within its bounds") {
  const std::string text = ptx_file("locals");
  const std::size_t begin = text.find(".section");
  std::mt19937 random(20261122);
  for (int round = 0; round < 60; ++round) {
    std::string bad = text;
    for (int i = 0; i < 200; ++i) {
      char& at = bad[begin + random() % (bad.size() - begin)];
      if (at >= '0' && at <= '9') at = static_cast<char>('0' + random() % 10);
    }
    std::vector<float> a(128, 1.0F), b(128);
    std::vector<int> c(128);
    const auto module = Module::parse(bad);
    if (std::holds_alternative<ParseError>(module)) continue;
    const Outcome o = Call("missing__acc", {1}, {32})
                          .buffer("a", a)
                          .buffer("b", b)
                          .buffer("c", c)
                          .value(128)
                          .inspect(kLocals)
                          .run(std::get<std::shared_ptr<const Module>>(module));
    REQUIRE(o.findings.size() == 1);
  }
}

TEST_CASE("debug information that makes no sense costs the names, not the findings") {
  std::string text = ptx_file("locals");
  for (std::size_t at = text.find(".debug_abbrev"); at < text.size(); ++at) {
    if (text[at] == '7') text[at] = '8';
  }
  std::vector<float> a(128, 1.0F), b(128);
  std::vector<int> c(128);
  const Outcome o = Call("missing__acc", {2}, {64})
                        .buffer("a", a)
                        .buffer("b", b)
                        .buffer("c", c)
                        .value(128)
                        .inspect(kLocals)
                        .run(parsed(text));
  REQUIRE_FALSE(o.findings.empty());
  CHECK(o.findings[0].kind == FindingKind::uninitialised_local);
}
