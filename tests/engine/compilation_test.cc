// The compiler behind its walls: the real runner, at the level that this machine gives and at the
// one that every machine gives.
#include "engine/node/compilation.h"

#include <chrono>
#include <thread>
#include "engine/confinement/isolation.h"

#include "tests/catch.h"

using namespace assay;
using confinement::Layers;
using confinement::Level;

namespace {

const std::filesystem::path kBin = ASSAY_BINARY_FOLDER;

node::KernelSource source(int number) {
  return {.source = "__global__ void k(float* x) { x[0] = " + std::to_string(number) + "; }",
          .kernel_type = "cuda"};
}

}  // namespace

TEST_CASE("a source is compiled at the least level too, where there is no folder to write in") {
  const node::Toolkit toolkit = node::find_toolkit(kBin);
  if (!toolkit.has_compiler()) {
    WARN("not run: no CUDA compiler on this machine");
    return;
  }
  const std::string runner = (kBin / "assay-runner").string();
  const Layers best = confinement::best_available({.runner = runner}).layers;
  for (const Layers& layers : {Layers{.level = Level::L1}, best}) {
    INFO(confinement::to_text(layers.level));
    const node::Runners runners(runner, layers, toolkit);
    node::CompileCache cache("", 0);
    node::CompileZygotes zygotes(runner, toolkit, "");
    const auto spares = node::compile_spares(runners, zygotes);
    node::Pythons pythons({}, kBin / "libassay-python.so", std::chrono::seconds{120});
    const node::Compiler compiler(runners, cache, zygotes, *spares, pythons);
    // The first comes from a fresh process, the next from one that was forked, and once there was
    // time to make one ahead from that.
    for (int number = 0; number < 6; ++number) {
      if (number > 3) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const auto compiled = compiler.compile(source(number), {}, {});
      if (const auto* ended = std::get_if<node::Ended>(&compiled)) FAIL(ended->summary);
      CHECK(std::get<node::Program>(compiled).ptx.find(".entry") != std::string::npos);
    }
    // Who has compiled before sees no more of the system than who has not.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    auto curious = source(6);
    curious.source = "#include \"/etc/passwd\"\n" + curious.source;
    const auto refused = compiler.compile(curious, {}, {});
    REQUIRE(std::holds_alternative<node::Ended>(refused));
    CHECK(std::get<node::Ended>(refused).detail.dump().find("root:") == std::string::npos);
  }
}

TEST_CASE(
    "a sum of floats by atomics is seen in all its forms, and no other atomic is taken for it") {
  const auto hangs_on_order = [](const std::string& instruction) {
    const node::Program program{.ptx = ".entry k()\n{\n\t" + instruction + " \t[%rd1], %f1;\n}"};
    return program.adds_in_any_order();
  };
  for (const char* sum :
       {"atom.global.add.f32", "red.global.add.f64", "atom.global.gpu.relaxed.add.noftz.f16x2",
        "red.global.add.noftz.bf16", "atom.global.add.v4.f32", "red.global.add.v2.f32",
        "red.global.v8.add.noftz.f16", "multimem.red.relaxed.sys.global.add.v4.f32",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group",
        "atom.global.cas.b32", "atom.global.exch.b32", "atom.shared.add.f32"}) {
    INFO(sum);
    CHECK(hangs_on_order(sum));
  }
  for (const char* other :
       {"atom.global.add.u32", "red.global.add.u64", "atom.global.max.f32",
        "red.global.min.noftz.f16", "atom.global.and.b32", "ld.shared.f32", "add.f32",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"}) {
    INFO(other);
    CHECK_FALSE(hangs_on_order(other));
  }
}
