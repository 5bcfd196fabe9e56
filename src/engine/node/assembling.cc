#include "engine/node/assembling.h"

namespace assay::node {
namespace {

// The emulator's device with all it has: what only a newer one has stays what the emulator has not.
constexpr const char* kAssembledArch = "sm_90a";
// Of a multiprocessor, and what warps take them in (compute capability 9.0).
constexpr std::uint64_t kRegisters = 65536;
constexpr std::uint64_t kRegistersOfWarp = 256;

// Of a block, as a device hands them out.
std::uint64_t registers_of_block(std::uint64_t of_thread, std::uint64_t threads) {
  const std::uint64_t of_warp =
      (of_thread * 32 + kRegistersOfWarp - 1) / kRegistersOfWarp * kRegistersOfWarp;
  return (threads + 31) / 32 * of_warp;
}

}  // namespace

Ended unless_refused(Ended ended, const Compiler& compiler, const KernelSource& source,
                     const std::stop_token& stop) {
  if (ended.verdict != job::Verdict::unsupported || source.kernel_type != "cuda") return ended;
  auto assembled = compiler.compile(source, {.arch = kAssembledArch}, stop);
  auto* const refused = std::get_if<Ended>(&assembled);
  const bool is_told = refused != nullptr && refused->verdict == job::Verdict::compile_failed;
  return is_told ? std::move(*refused) : std::move(ended);
}

std::optional<Ended> too_many_registers(const Loaded& loaded, std::uint64_t threads,
                                        const Compiler& compiler, const KernelSource& source,
                                        const std::stop_token& stop) {
  const bool is_bounded = loaded.max_threads != 0;  // the assembler heeds it
  if (source.kernel_type != "cuda" || is_bounded) return std::nullopt;
  if (registers_of_block(loaded.register_rows, threads) <= kRegisters) return std::nullopt;
  const auto assembled = compiler.compile(source, {.arch = kAssembledArch, .examine = true}, stop);
  const auto* const program = std::get_if<Program>(&assembled);
  if (program == nullptr) return std::nullopt;
  for (const auto& kernel : program->kernels) {
    const auto resources = kernel.value("resources", nlohmann::json::object());
    const auto registers = resources.value("registers", std::uint64_t{0});
    if (kernel.value("symbol", std::string()) != loaded.entry) continue;
    if (registers_of_block(registers, threads) <= kRegisters) return std::nullopt;
    return Ended{.verdict = job::Verdict::launch_failed,
                 .summary = "No device launches the kernel: a thread takes " +
                            std::to_string(registers) + " registers, and a block of " +
                            std::to_string(threads) + " threads more than the " +
                            std::to_string(kRegisters) +
                            " there are. Use smaller blocks, or `__launch_bounds__(" +
                            std::to_string(threads) + ")`, which makes the compiler spill."};
  }
  return std::nullopt;
}

}  // namespace assay::node
