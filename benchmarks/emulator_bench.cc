// How fast the emulator is: kernels of tests/emulator/ptx on one host thread, in processor time of
// that thread, so that a busy machine does not matter, and on all cores. Run from the repository's
// root; with the name of a kernel (or "sgemm + counters") only that one is run, with that of an
// instruction set only by it, and with a number that often; the quickest is told.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "benchmarks/host_twins.h"
#include "engine/emulator/emulator.h"
#include "engine/emulator/op.h"

namespace assay::emulator {
namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double cpu_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

std::shared_ptr<const Module> load(const std::string& name) {
  std::ifstream file("tests/emulator/ptx/" + name + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  const double begin = cpu_seconds();
  auto m = Module::parse(text.str());
  const double seconds = cpu_seconds() - begin;
  if (const auto* e = std::get_if<ParseError>(&m)) {
    std::fprintf(stderr, "%s:%d: %s\n", name.c_str(), e->ptx_line, e->message.c_str());
    return nullptr;
  }
  auto module = std::get<std::shared_ptr<const Module>>(std::move(m));
  std::printf("%-16s parsed in %.3f ms, %zu kernels\n", name.c_str(), seconds * 1e3,
              module->kernels().size());
  return module;
}

struct Case {
  std::string kernel{};
  Dim3 grid{};
  Dim3 block{};
  std::vector<std::size_t> buffers{};  // floats in each, parameters in this order
  std::vector<std::uint32_t> scalars{};
  std::size_t shared_bytes = 0;
  Inspection inspection{};
  std::vector<float> factors{};  // parameters before the buffers
  bool is_part = false;          // of a whole that the host's own code would do
};

// The same work by the host's own code, on the same memory.
void run_twin(const Case& c, std::vector<std::vector<float>>& memory) {
  const HostTwin* const twin = host_twin(c.kernel.c_str());
  if (twin == nullptr || c.is_part || memory.front().size() < 4096) return;
  std::vector<float> out = memory.back();
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {
    const double begin = cpu_seconds();
    twin->run(memory, out, c.scalars.front());
    best = std::min(best, cpu_seconds() - begin);
  }
  std::printf("%-16s %10.3f ms  by the host's own code (%.3g)\n", "", best * 1e3,
              static_cast<double>(out.front()));
}

std::string_view only_kernel;
int repeats = 4;

// On all cores, by the wall's clock: what else the machine does is in it.
void run_on_all(Device& device, const Launch& launch, std::vector<Buffer>& buffers, double alone) {
  const unsigned cores = std::thread::hardware_concurrency();
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const double begin = seconds_of(CLOCK_MONOTONIC);
    if (device.launch(launch, buffers, {}, {}).ending != Ending::completed) return;
    best = std::min(best, seconds_of(CLOCK_MONOTONIC) - begin);
  }
  std::printf("%-16s %10.3f ms  on all %u cores: %.1f times one core's speed\n", "", best * 1e3,
              cores, alone / best);
}

void run(Device& device, const Case& c) {
  std::vector<std::vector<float>> memory;
  std::vector<Buffer> buffers;
  Launch launch{.kernel = c.kernel, .grid = c.grid, .block = c.block};
  launch.dynamic_shared_bytes = c.shared_bytes;
  launch.inspection = c.inspection;
  const char* const looked_at = c.inspection.checked_blocks != 0
                                    ? " + races of an eighth of the blocks"
                                : c.inspection.races    ? " + races"
                                : c.inspection.counters ? " + counters"
                                                        : "";
  if (!only_kernel.empty() && only_kernel != c.kernel && only_kernel != c.kernel + looked_at) {
    return;
  }
  std::uint64_t address = 0x7F00'0000'0000;
  for (const float f : c.factors) {
    const auto* const p = reinterpret_cast<const std::byte*>(&f);
    launch.parameters.insert(launch.parameters.end(), p, p + sizeof f);
  }
  launch.parameters.resize((launch.parameters.size() + 7) / 8 * 8);
  for (const std::size_t n : c.buffers) {
    memory.emplace_back(n, 0.5F);
    buffers.push_back({.address = address,
                       .bytes = std::as_writable_bytes(std::span(memory.back())),
                       .name = "b" + std::to_string(buffers.size())});
    const auto* const p = reinterpret_cast<const std::byte*>(&address);
    launch.parameters.insert(launch.parameters.end(), p, p + 8);
    address += (n * sizeof(float) + 0x1FFFF) & ~std::uint64_t{0xFFFF};
  }
  for (const std::uint32_t s : c.scalars) {
    const auto* const p = reinterpret_cast<const std::byte*>(&s);
    launch.parameters.insert(launch.parameters.end(), p, p + 4);
  }
  double best = 1e9;
  Outcome o;
  for (int i = 0; i < repeats; ++i) {
    const double begin = cpu_seconds();
    o = device.launch(launch, buffers, {.threads = 1}, {});
    best = std::min(best, cpu_seconds() - begin);
  }
  if (o.ending != Ending::completed) {
    std::printf("%-16s %s\n", c.kernel.c_str(), o.message.c_str());
    return;
  }
  std::printf("%-16s %10.3f ms  %7.1f M thread instructions  %5.2f G/s  %5.1f ns per warp's%s\n",
              c.kernel.c_str(), best * 1e3,
              static_cast<double>(o.counters.thread_instructions) / 1e6,
              static_cast<double>(o.counters.thread_instructions) / best / 1e9,
              best * 1e9 / static_cast<double>(o.counters.warp_instructions), looked_at);
  if (!c.is_part) run_on_all(device, launch, buffers, best);
  run_twin(c, memory);
}

void run_all(std::string_view set) {
  if (!use_instruction_set(set)) return;
  std::printf("instruction set: %s\n", std::string(set).c_str());
  const auto elementwise = load("elementwise");
  const auto cooperative = load("cooperative");
  const auto gemm = load("gemm");
  if (!elementwise || !cooperative || !gemm) return;
  constexpr std::uint32_t kMany = 1U << 24;
  constexpr std::uint32_t kSide = 512;
  Device a(elementwise);
  run(a, {"vadd", {kMany / 256}, {256}, {kMany, kMany, kMany}, {kMany}});
  run(a, {"vadd", {4}, {256}, {1000, 1000, 1000}, {1000}});
  run(a, {"float_math", {4096}, {256}, {1U << 20, 1U << 20}, {1U << 20}});
  run(a, {"half_axpy", {4096}, {256}, {1U << 20, 1U << 20}, {1U << 20}});
  Device b(cooperative);
  constexpr std::size_t kMatrix = std::size_t{kSide} * kSide;
  run(b, {"sgemm", {kSide / 16, kSide / 16}, {16, 16}, {kMatrix, kMatrix, kMatrix}, {kSide}});
  run(b, {"block_sum", {1024}, {256}, {kMany, 1}, {kMany}, 1024});
  run(b, {"warp_sum", {1024}, {256}, {kMany, 1}, {kMany}});
  run(b, {"softmax", {1024}, {256}, {1U << 20, 1U << 20}, {1024}});
  Device c(gemm);
  run(c, {.kernel = "saxpy_stride",
          .grid = {1024},
          .block = {256},
          .buffers = {kMany, kMany},
          .scalars = {kMany},
          .factors = {0.5F}});
  run(c, {"gemm_naive", {kSide / 16, kSide / 16}, {16, 16}, {kMatrix, kMatrix, kMatrix}, {kSide}});
  run(c, {"gemm_blocked", {kSide / 64, kSide / 64}, {256}, {kMatrix, kMatrix, kMatrix}, {kSide}});
  // What looking costs: an eighth of the product's rows.
  for (const Inspection& i :
       {Inspection{}, Inspection{.counters = true}, Inspection{.races = true},
        Inspection{.races = true, .checked_blocks = kSide / 16 * kSide / 128 / 8}}) {
    run(b, {.kernel = "sgemm",
            .grid = {kSide / 16, kSide / 128},
            .block = {16, 16},
            .buffers = {kMatrix, kMatrix, kMatrix},
            .scalars = {kSide},
            .inspection = i,
            .is_part = true});
  }
  run(c, {"histogram_shared", {1024}, {256}, {kMany, 256}, {kMany}});
}

}  // namespace
}  // namespace assay::emulator

int main(int argc, char** argv) {
  if (argc > 1) assay::emulator::only_kernel = argv[1];
  if (argc > 3) assay::emulator::repeats = std::max(1, std::atoi(argv[3]));
  for (const char* const set : {"avx512", "avx2", "portable"}) {
    if (argc <= 2 || std::string_view(argv[2]) == set) assay::emulator::run_all(set);
  }
}
