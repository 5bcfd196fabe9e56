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
