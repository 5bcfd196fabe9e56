// Index arithmetic that wrapped before an access: planted mistakes of indices.cu, none of which may
// be missed, and kernels whose arithmetic wraps on purpose, about which nothing may be said.
#include <algorithm>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

std::shared_ptr<const Module> indices() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("indices"));
  return module;
}

Outcome inspect(const std::string& kernel, const Inspection& inspection = {.numbers = true}) {
  std::vector<float> a(256), b(256);
  std::vector<int> c(64);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7 + 1);
  return Call(kernel, {2}, {128})
      .buffer("a", a)
      .buffer("b", b)
      .buffer("c", c)
      .value(256)
      .inspect(inspection)
      .run(indices());
}

const Finding* wrapped(const Outcome& o) {
  const auto f = std::find_if(o.findings.begin(), o.findings.end(), [](const Finding& g) {
    return g.kind == FindingKind::index_wrapped;
  });
  return f == o.findings.end() ? nullptr : &*f;
}

std::string told(const Outcome& o) {
  std::string s = std::string(name(o.ending)) + " " + o.message;
  for (const Finding& f : o.findings) s += "\n  " + f.message;
  return s;
}

}  // namespace

TEST_CASE("an index that wrapped is found, and one that wraps on purpose is not") {
  int planted = 0;
  int clean = 0;
  for (const KernelInfo& k : indices()->kernels()) {
    const Outcome o = inspect(k.name);
    INFO(k.name << ": " << told(o));
    if (k.name.starts_with("clean__")) {
      CHECK(o.ending == Ending::completed);
      CHECK(o.findings.empty());
      ++clean;
    } else {
      CHECK(wrapped(o) != nullptr);
      ++planted;
    }
  }
  CHECK(planted >= 17);
  CHECK(clean >= 24);
}

TEST_CASE("a wrapped index is told with its line, its numbers and whose it was") {
  const Outcome o = inspect("index_wrapped__unsigned_below_zero");
  const Finding* const f = wrapped(o);
  REQUIRE(f != nullptr);
  CHECK(f->other_where.line == 8);
  CHECK(f->thread.x == 0);
  CHECK(f->block.x == 0);
  CHECK(f->message.find("-1 does not fit 32 bits and became 4294967295") != std::string::npos);
  CHECK(f->message.find("outside of all memory") != std::string::npos);
  CHECK(o.ending == Ending::faulted);
}

TEST_CASE("more wrapped values than are kept are said, and cost bounded memory") {
  std::string body;
  for (int i = 1; i < 9000; ++i) {
    body += "add.s32 %r" + std::to_string(i) + ", %r0, -" + std::to_string(i) + ";\n";
  }
  // All of them live on, so that none shares another's row.
  body += "bra L;\nL:\n";
  for (int i = 1; i < 9000; ++i) body += "xor.b32 %r0, %r0, %r" + std::to_string(i) + ";\n";
  const auto module = parsed(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n"
      ".reg .b32 %r<9000>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [y];\nmov.u32 %r0, 0;\n" +
      body + "st.global.u32 [%rd1], %r0;\nret;\n}\n");
  std::vector<unsigned> y(1);
  const Outcome o = Call("k", {}, {1}).buffer("y", y).inspect({.numbers = true}).run(module);
  CHECK(o.ending == Ending::completed);
  CHECK(o.findings.empty());
  REQUIRE(o.inspection_notes.size() == 1);
  CHECK(o.inspection_notes[0].find("there were more") != std::string::npos);
}

TEST_CASE("wrapped indices are looked for with the numbers only") {
  CHECK(wrapped(inspect("index_wrapped__shift", {.races = true, .initialised = true})) == nullptr);
}
