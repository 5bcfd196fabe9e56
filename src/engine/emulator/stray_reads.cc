// Loads that leave their tensor and find memory all the same, as on a device, where whole pages are
// mapped around each one.
#include <algorithm>
#include <array>

#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxStrayLines = 16;
constexpr std::size_t kMostBytes = 64;  // of one lane's load

// Never written to: loads alone are answered with it.
alignas(64) std::array<std::byte, kMostBytes> zeros{};

std::byte* mapped_at(const Surroundings& around, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - around.address;
  if (address < around.address) return nullptr;
  if (offset > around.mapped_bytes || around.mapped_bytes - offset < bytes) return nullptr;
  const std::size_t held = around.bytes.size();
  const bool is_held = offset <= held && held - offset >= bytes;
  if (!is_held) return bytes <= kMostBytes ? zeros.data() : nullptr;
  return const_cast<std::byte*>(around.bytes.data()) + offset;  // for a load alone
}

// A device maps variables in whole pages, too.
Surroundings around_variables(std::span<const std::byte> variables) {
  constexpr std::uint64_t kPage = 2U << 20;
  return {.address = kGlobalsBase,
          .bytes = variables,
          .mapped_bytes = (variables.size() + kPage - 1) / kPage * kPage};
}

}  // namespace

std::byte* stray_read(Warp& w, const Op& op, const BadAccess& bad) {
  LaunchState& launch = w.block->launch();
  const Surroundings& around = launch.launch.surroundings;
  const bool is_global = bad.space == Space::global || bad.space == Space::generic;
  if ((!is_global && bad.space != Space::constant) || around.mapped_bytes == 0) return nullptr;
  std::byte* found = mapped_at(around, bad.address, bad.bytes);
  if (found == nullptr) {
    found = mapped_at(around_variables(launch.variables), bad.address, bad.bytes);
  }
  if (found != nullptr) launch.note_stray(op_pc(w, op), [&] { return fault_of(w, op, bad); });
  return found;
}

// Threads of the launch meet here, in a kernel that is wrong.
void LaunchState::note_stray(std::uint32_t pc, const std::function<Fault()>& describe) {
  const std::lock_guard lock(mutex_);
  auto& findings = outcome_.findings;
  const auto [at, is_new] = strays_.try_emplace(pc, findings.size());
  if (!is_new) {
    if (at->second < findings.size()) ++findings[at->second].count;
    return;
  }
  const Fault fault = describe();
  const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.where.line != 0 && f.where.line == fault.where.line &&
           f.where.file == fault.where.file && f.buffer == fault.buffer;
  });
  if (same != findings.end()) {
    ++same->count;
    at->second = static_cast<std::size_t>(same - findings.begin());
    return;
  }
  at->second = findings.size() < kMaxStrayLines ? findings.size() : kMaxStrayLines;
  if (at->second == kMaxStrayLines) return;
  findings.push_back({.kind = FindingKind::out_of_bounds,
                      .message = fault.message,
                      .instruction = fault.instruction,
                      .where = fault.where,
                      .inlined_at = text.inlined_at(pc),
                      .block = fault.block,
                      .thread = fault.thread,
                      .buffer = fault.buffer,
                      .buffer_offset_bytes = fault.buffer_offset_bytes,
                      .access_bytes = static_cast<unsigned>(fault.access_bytes)});
}

}  // namespace assay::emulator
