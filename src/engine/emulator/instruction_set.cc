#include <atomic>
#include <cstdlib>

#include "engine/emulator/op.h"

namespace assay::emulator {

namespace portable {
extern const InstructionSet kInstructionSet;
}
#ifdef ASSAY_EMULATOR_HAS_AVX2
namespace avx2 {
extern const InstructionSet kInstructionSet;
}
#endif

namespace {

std::atomic<const InstructionSet*> asked_for{nullptr};

#ifdef ASSAY_EMULATOR_HAS_AVX2
bool has_avx2() {
  // F16C is there wherever AVX2 is; not every compiler lets it be asked for.
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
#endif

const InstructionSet& choose() {
  const char* const name = std::getenv("ASSAY_EMULATOR_SET");
  if (name != nullptr && portable::kInstructionSet.name == name) return portable::kInstructionSet;
#ifdef ASSAY_EMULATOR_HAS_AVX2
  if (has_avx2()) return avx2::kInstructionSet;
#endif
  return portable::kInstructionSet;
}

const InstructionSet& best() {
  static const InstructionSet& chosen = choose();
  return chosen;
}

}  // namespace

const InstructionSet& instruction_set() {
  const InstructionSet* const wanted = asked_for.load(std::memory_order_relaxed);
  return wanted != nullptr ? *wanted : best();
}

bool use_instruction_set(std::string_view name) {
  const InstructionSet* wanted = nullptr;
  if (name == portable::kInstructionSet.name) wanted = &portable::kInstructionSet;
#ifdef ASSAY_EMULATOR_HAS_AVX2
  if (has_avx2() && name == avx2::kInstructionSet.name) wanted = &avx2::kInstructionSet;
#endif
  if (wanted == nullptr && !name.empty()) return false;
  asked_for.store(wanted, std::memory_order_relaxed);
  return true;
}

}  // namespace assay::emulator
