// `assay engine`: the per-node engine on descriptor 3. Started by a server, not by people.
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/kernel_kind.h"
#include "cli/plan_kinds.h"
#include "engine/confinement/isolation.h"
#include "engine/node/capabilities.h"
#include "engine/node/compile_cache.h"
#include "engine/node/devices.h"
#include "engine/node/link.h"
#include "engine/node/node.h"
#include "engine/node/pythons.h"

namespace assay::cli {
namespace {

using confinement::Isolation;
using nlohmann::json;

struct EngineOptions {
  std::string runner{};
  std::string disassembler{};  // "": the toolkit's
  std::string min_isolation = "L1";
  bool allow_unsandboxed = false;
  unsigned slots = 0;
  unsigned keep_warm_s = 0;
  std::string cache{};
  std::string device = "auto";
  std::vector<std::string> pythons{};
};

// Why a step cannot be confined here; "" if it can.
std::string why_unconfined(const Isolation& isolation) {
  if (!isolation.failure.empty()) return "no confinement can be put in force: " + isolation.failure;
  if (isolation.level == confinement::Level::L0)
    return "the machine was seen to give no confinement";
  return {};
}

std::string profiler() {
  const char* library = std::getenv(node::kProfilerVariable);
  return library == nullptr ? "" : library;
}

std::chrono::seconds keep_warm(const EngineOptions& options) {
  return options.keep_warm_s > 0 ? std::chrono::seconds(options.keep_warm_s)
                                 : node::GpuPool::kKeptWarm;
}

// What is known once the self-test has ended: how runners are confined, and what they found.
struct Workbench {
  Workbench(const Isolation& seen, const std::string& runner, const node::Toolkit& toolkit,
            const EngineOptions& options, node::CompileZygotes& zygotes)
      : isolation(seen),
        may_run(seen.sufficient() || seen.required == confinement::Level::L0),
        lookout(runner, seen.layers, toolkit, profiler()),
        devices(lookout, may_run ? options.device : "emulator", keep_warm(options)),
        runners(lookout.leaving_cores_to(devices.gpus().list.size())),
        compilers(node::compile_spares(runners, zygotes)),
        steps(runner, seen.layers, why_unconfined(seen)) {}

  const Isolation isolation;
  const bool may_run;
  const node::Runners lookout;  // who finds out what there is
  const node::Devices devices;
  const node::Runners runners;
  const std::unique_ptr<node::Spares> compilers;
  const plans::StepRunner steps;
};

constexpr std::uint64_t kCacheBytes = 512ULL << 20;

unsigned default_slots() { return std::max(2U, std::thread::hardware_concurrency() / 2); }

// Kernels and referees run under another profile than compilers: what is reported holds for both.
void also_test_kernels(confinement::SelfTest test, Isolation& isolation) {
  test.profile = confinement::Profile::cpu;
  test.readable.clear();
  Isolation kernels = confinement::self_test(test, isolation.layers);
  for (auto& attack : kernels.attacks) {
    attack.name = "cpu: " + attack.name;
    isolation.attacks.push_back(std::move(attack));
  }
  isolation.level = std::min(isolation.level, kernels.level);
  if (!kernels.failure.empty()) isolation.failure = kernels.failure;
}

Isolation test_isolation(const EngineOptions& options, const std::string& runner,
                         const node::Toolkit& toolkit) {
  const confinement::SelfTest test{
      .runner = runner,
      .required =
          confinement::level_from_text(options.min_isolation).value_or(confinement::Level::L1),
      .profile = confinement::Profile::compile,
      .readable = node::readable_paths(toolkit)};
  Isolation isolation = confinement::best_available(test);
  if (isolation.failure.empty()) also_test_kernels(test, isolation);
  if (!isolation.sufficient() && options.allow_unsandboxed) {
    isolation.layers = {
        .level = confinement::Level::L0, .user_namespace = false, .landlock = false};
    isolation.required = confinement::Level::L0;
    isolation.failure.clear();
  }
  return isolation;
}

int run_engine(const EngineOptions& options) {
  constexpr int kChannel = 3;
  if (::fcntl(kChannel, F_GETFD) < 0) {
    spdlog::error("assay engine is started by `assay serve`: descriptor 3 must be its channel");
    return 64;
  }
  confinement::harden_supervisor();
  std::signal(SIGPIPE, SIG_IGN);
  const std::string runner =
      options.runner.empty() ? (executable_folder() / "assay-runner").string() : options.runner;
  const node::Toolkit toolkit = node::find_toolkit(executable_folder());
  const std::string headers = options.cache.empty() ? "" : options.cache + "/headers";
  node::CompileZygotes zygotes(runner, toolkit, headers);
  // The self-test runs beside the start: answering and compiling questions need not wait for it.
  const std::shared_future<std::shared_ptr<const Workbench>> workbench =
      std::async(std::launch::async, [&]() -> std::shared_ptr<const Workbench> {
        return std::make_shared<Workbench>(test_isolation(options, runner, toolkit), runner,
                                           toolkit, options, zygotes);
      }).share();

  node::CompileCache cache(options.cache, kCacheBytes);
  node::Pythons pythons(options.pythons, executable_folder() / "libassay-python.so",
                        node::GpuPool::idle(keep_warm(options)));
  node::WrapperEnvironment wrappers(options.cache.empty() ? "" : options.cache + "/wrappers");
  node::NodeConfig config{.slots = options.slots > 0 ? options.slots : default_slots()};
  config.kinds["kernel"] = [&](const node::Order& order, node::Reporter& reporter,
                               const std::stop_token& stop) -> node::Conclusion {
    const Workbench& bench = *workbench.get();
    if (!bench.may_run) return node::refused_isolation(bench.isolation);
    const node::Compiler compiler(bench.runners, cache, zygotes, *bench.compilers, pythons,
                                  &wrappers);
    return judge_kernel({bench.runners, bench.devices, pythons, compiler,
                         node::isolation_in_force(bench.isolation)},
                        order, reporter, stop);
  };
  config.capabilities = [&] {
    const Workbench& bench = *workbench.get();
    const auto compiler =
        bench.may_run
            ? node::Compiler(bench.runners, cache, zygotes, *bench.compilers, pythons).describe()
            : node::CompilerFacts{.missing = "nothing may run here"};
    return node::capabilities(bench.isolation, toolkit, compiler, bench.devices.told(),
                              pythons.interpreters(), config.slots);
  };

  add_plan_kinds(
      config, [&]() -> const plans::StepRunner& { return workbench.get()->steps; },
      options.disassembler.empty() ? toolkit.disassembler
                                   : std::filesystem::path(options.disassembler));

  frames::Channel channel(posix::Descriptor(kChannel), node::link::kCaps, false);
  node::Node engine(config);
  engine.serve(channel);
  return 0;
}

}  // namespace

void add_engine(CLI::App& app, int& code) {
  auto options = std::make_shared<EngineOptions>();
  CLI::App* command = app.add_subcommand("engine", "Run jobs for a server (started by it)");
  command->group("");
  command->add_option("--runner", options->runner);
  command->add_option("--min-isolation", options->min_isolation);
  command->add_flag("--allow-unsandboxed", options->allow_unsandboxed);
  command->add_option("--slots", options->slots);
  command->add_option("--keep-warm", options->keep_warm_s);
  command->add_option("--cache", options->cache);
  command->add_option("--device", options->device);
  command->add_option("--python", options->pythons);
  command->add_option("--disassembler", options->disassembler);
  command->callback([options, &code] { code = run_engine(*options); });
}

}  // namespace assay::cli
