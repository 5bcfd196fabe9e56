// How a watch puts what it found into words, once per place.
#include <algorithm>
#include <array>
#include <iterator>

#include "engine/emulator/block.h"
#include "engine/emulator/profile.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

namespace {
constexpr std::size_t kMaxFindings = 64;
constexpr std::array<std::string_view, 3> kStrongNames{".relaxed", ".acquire", ".release"};
}  // namespace

// A __shared__ variable of a function is mangled as _ZZ…E<length>name, a static one as
// _ZL<length>name: `name`.
std::string plain_name(std::string_view mangled) {
  if (mangled.starts_with("_ZL")) {
    const std::size_t at = mangled.find_first_not_of("0123456789", 3);
    if (at != std::string_view::npos && at > 3 && at < 7) {
      const std::size_t length = std::stoul(std::string(mangled.substr(3, at - 3)));
      return std::string(mangled.substr(at, length));
    }
  }
  for (std::size_t at = mangled.size(); at-- > 0;) {
    if (!mangled.starts_with("_ZZ") || mangled[at] != 'E') continue;
    std::size_t length = 0;
    std::size_t i = at + 1;
    for (; i < mangled.size() && mangled[i] >= '0' && mangled[i] <= '9' && length < 1000; ++i) {
      length = length * 10 + static_cast<std::size_t>(mangled[i] - '0');
    }
    if (i > at + 1 && length > 0 && i + length <= mangled.size()) {
      return std::string(mangled.substr(i, length));
    }
  }
  return std::string(mangled);
}

std::string_view name(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out_of_bounds";
    case FindingKind::shared_race:
      return "shared_race";
    case FindingKind::global_race:
      return "global_race";
    case FindingKind::warp_race:
      return "warp_race";
    case FindingKind::uninitialised_shared:
      return "uninitialised_shared";
    case FindingKind::uninitialised_global:
      return "uninitialised_global";
    case FindingKind::uninitialised_local:
      return "uninitialised_local";
    case FindingKind::divergent_barrier:
      return "divergent_barrier";
    case FindingKind::mismatched_barrier:
      return "mismatched_barrier";
    case FindingKind::barrier_after_exit:
      return "barrier_after_exit";
    case FindingKind::inactive_shuffle:
      return "inactive_shuffle";
    case FindingKind::partial_mask:
      return "partial_mask";
    case FindingKind::heap_misuse:
      return "heap_misuse";
    case FindingKind::division_by_zero:
      return "division_by_zero";
    case FindingKind::not_a_number:
      return "not_a_number";
    case FindingKind::infinity:
      return "infinity";
    case FindingKind::index_wrapped:
      return "index_wrapped";
  }
  return "unknown";
}

std::string text_of(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string element_text(const Finding& f) {
  if (f.buffer.empty()) return "byte " + std::to_string(f.buffer_offset_bytes);
  const auto size = static_cast<std::int64_t>(f.access_bytes);
  if (size > 0 && f.buffer_offset_bytes % size == 0) {
    return "element " + std::to_string(f.buffer_offset_bytes / size) + " of '" + f.buffer + "'";
  }
  return "byte " + std::to_string(f.buffer_offset_bytes) + " of '" + f.buffer + "'";
}

void name_shared(Finding& f, const LaunchState& launch, std::uint64_t offset) {
  f.buffer_offset_bytes = static_cast<std::int64_t>(offset);
  std::uint64_t begin = 0;
  for (const auto& [index, at] : launch.shared.offsets) {
    if (at > offset || (!f.buffer.empty() && at < begin)) continue;
    begin = at;
    f.buffer = plain_name(launch.text.shared[index].name);
    f.buffer_offset_bytes = static_cast<std::int64_t>(offset - at);
  }
}

Dim3 Watch::block_of(std::uint32_t number) const {
  const Dim3& g = launch_.launch.grid;
  return {number % g.x, number / g.x % g.y, number / g.x / g.y};
}

Dim3 Watch::thread_of(unsigned warp, unsigned lane) const {
  const Dim3& b = launch_.launch.block;
  const std::uint32_t t = warp * 32 + lane;
  return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}

// The user's line of an instruction, or its own number where there is none.
std::uint32_t Watch::line_of(std::uint32_t pc) {
  const auto [at, fresh] = lines_.try_emplace(pc, 0U);
  if (fresh) {
    const int line = launch_.text.where_pc(pc).line;
    at->second = line > 0 ? static_cast<std::uint32_t>(line) : (1U << 26) + pc;
  }
  return at->second;
}

std::uint64_t Watch::key_of(const Place& p) {
  return static_cast<std::uint64_t>(p.kind) << 56 | std::uint64_t{line_of(p.pc)} << 28 |
         line_of(p.other_pc);
}

bool Watch::is_known(const Place& place) { return index_.contains(key_of(place)); }

Finding& Watch::add(const Place& place, Warp& w, bool& fresh) {
  const auto [at, is_new] = index_.try_emplace(key_of(place), findings_.size());
  fresh = is_new && findings_.size() < kMaxFindings;
  if (is_new && !fresh) {
    truncated_ = true;
    at->second = kMaxFindings;
  }
  if (at->second >= findings_.size() && !fresh) return overflow_;
  if (!fresh) {
    ++findings_[at->second].count;
    return findings_[at->second];
  }
  Finding f{.kind = place.kind};
  f.instruction = launch_.text.instruction_at(place.pc);
  f.where = launch_.text.where_pc(place.pc);
  f.inlined_at = launch_.text.inlined_at(place.pc);
  if (place.other_pc != place.pc) f.other_where = launch_.text.where_pc(place.other_pc);
  if (f.other_where.line == 0) f.other_where = f.where;
  f.block = w.block->index();
  f.thread = thread_of(w.index, place.lane);
  findings_.push_back(std::move(f));
  return findings_.back();
}

// Written as one that others see: cuda::atomic, st.release, an atomic function.
bool Watch::is_strong_by_name(std::uint32_t pc) const {
  std::string text = launch_.text.instruction_at(pc);
  if (text.starts_with('@')) text.erase(0, text.find_first_of(" \t") + 1);
  text.erase(0, text.find_first_not_of(" \t"));
  if (text.starts_with("atom.") || text.starts_with("red.")) return true;  // not "shared."
  return std::any_of(kStrongNames.begin(), kStrongNames.end(),
                     [&](std::string_view name) { return text.find(name) != std::string::npos; });
}

void Watch::name_memory(Finding& f, const MemoryTouch& t, const MemoryPlace& at) const {
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  const unsigned element = bytes_of(site.type);
  f.access_bytes = element != 0 ? element : static_cast<unsigned>(t.bytes);
  if (at.space == Space::global) {
    const Object& o = launch_.memory.objects()[static_cast<std::size_t>(at.object)];
    f.buffer = o.name;
    f.buffer_offset_bytes = static_cast<std::int64_t>(at.offset - o.begin);
    return;
  }
  name_shared(f, launch_, at.offset);
}

void Watch::note_sample(Outcome& outcome) const {
  outcome.checked_blocks = sample_.size();
  if (sample_.is_all()) return;
  std::string note = "Checks looked at " + std::to_string(sample_.size()) + " of " +
                     std::to_string(sample_.of()) +
                     " blocks: the first, the last, others by chance. What happens between a block "
                     "that is looked at and one that is not cannot be seen.";
  if (wanted_.initialised) {
    note +=
        " Reads of global memory that nobody wrote were not looked for: blocks that are not "
        "looked at write, too.";
  }
  outcome.inspection_notes.push_back(std::move(note));
}

void Watch::finish(Outcome& outcome) {
  std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    return !a.is_warning && b.is_warning;
  });
  outcome.findings.insert(outcome.findings.end(), std::make_move_iterator(findings_.begin()),
                          std::make_move_iterator(findings_.end()));
  if (truncated_) {
    outcome.inspection_notes.push_back("More than " + std::to_string(kMaxFindings) +
                                       " different findings: the rest is left out.");
  }
  if (global_.is_full()) {
    outcome.inspection_notes.emplace_back(
        "Races in global memory were looked for in the first 12 MB that the kernel touched, in "
        "less "
        "where its elements are smaller than 4 bytes.");
  }
  if (grid_.is_full()) {
    outcome.inspection_notes.emplace_back(
        "Blocks met through global memory more than 262144 times: races between them were not "
        "looked for from then on.");
  }
  if (too_many_indices_) {
    outcome.inspection_notes.emplace_back(
        "Wrapped indices were followed in 4096 registers of a block's warps, and there were more.");
  }
  if (time_is_over_) {
    outcome.inspection_notes.emplace_back(
        "Races were looked for in the first 4294967294 accesses of warps.");
  }
  if (wanted_.checks()) note_sample(outcome);
  if (!wanted_.counters) return;
  traffic_->finish(launch_.text);
  outcome.profile = make_profile({.text = launch_.text,
                                  .memory = launch_.memory,
                                  .executed = executed_,
                                  .divergent = divergent_,
                                  .traffic = *traffic_});
}

}  // namespace assay::emulator
