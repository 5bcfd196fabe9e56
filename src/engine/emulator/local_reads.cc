#include "engine/emulator/local_reads.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "engine/emulator/local_names.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxFindings = 16;
// Copies of all buffers are kept beside them.
constexpr std::size_t kMaxSavedBytes = 512U << 20;
// Those there are at least, and one to isolate a place.
constexpr int kRuns = 4;

using Places = std::vector<std::uint32_t>;

class Search {
 public:
  explicit Search(const LocalSearch& wanted)
      : wanted_(wanted),
        names_(wanted.text),
        code_(wanted.text),
        fill_(wanted.text, wanted.entry),
        sample_(std::uint64_t{wanted.launch.grid.x} * wanted.launch.grid.y * wanted.launch.grid.z,
                wanted.launch.inspection.checked_blocks, wanted.launch.inspection.seed) {}

  Outcome run() {
    Outcome outcome;
    if (auto reason = reason_against(); !reason.empty()) {
      outcome.inspection_notes.push_back("Locals were not looked at: " + std::move(reason));
      return outcome;
    }
    save();
    outcome = trial(LocalTrial::Goal::record, 0, {}).outcome;
    is_partial_ = outcome.ending != Ending::completed;
    if (outcome.ending == Ending::stopped) outcome.ending = Ending::completed;
    Places all(fill_.places().size());
    std::iota(all.begin(), all.end(), 0U);
    for (std::size_t contents = 1; contents < kContents; ++contents) look(contents, all);
    restore();
    outcome.findings = std::move(findings_);
    outcome.checked_blocks = sample_.size();
    if (is_partial_) {
      outcome.inspection_notes.push_back("Locals were looked at in the first " +
                                         std::to_string(compared_) + " steps of the launch.");
    }
    return outcome;
  }

 private:
  struct Trial {
    Outcome outcome{};
    std::optional<LocalStep> found{};
    std::uint64_t steps = 0;
  };

  std::string reason_against() const {
    if (!wanted_.text.program.is_debug) return "this is no debug build.";
    std::size_t bytes = 0;
    for (const Buffer& b : wanted_.buffers) bytes += b.bytes.size();
    if (bytes > kMaxSavedBytes) return "the tensors are larger than 512 MiB together.";
    return {};
  }

  void save() {
    for (const Buffer& b : wanted_.buffers) saved_.emplace_back(b.bytes.begin(), b.bytes.end());
  }

  void restore() {
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      std::copy(saved_[i].begin(), saved_[i].end(), wanted_.buffers[i].bytes.begin());
    }
  }

  [[nodiscard]] bool out_of_time() const {
    return wanted_.wall.count() != 0 && std::chrono::steady_clock::now() >= deadline_;
  }

  // The places in `chosen` hold contents number `contents`, all others the first.
  Trial trial(LocalTrial::Goal goal, std::size_t contents, const Places& chosen,
              std::uint64_t last = StepRecord::kMost) {
    if (out_of_time()) return {.outcome = {.ending = Ending::budget_wall}};
    restore();
    fill_.choose(contents, chosen);
    LocalTrial one(code_, fill_, sample_, record_, goal, last);
    std::chrono::nanoseconds left{0};
    if (wanted_.wall.count() != 0) {
      left = std::max<std::chrono::nanoseconds>(deadline_ - std::chrono::steady_clock::now(),
                                                std::chrono::milliseconds(1));
      // One that does not end leaves time for those that are compared with it.
      if (goal == LocalTrial::Goal::record) left = std::min(left, wanted_.wall / kRuns);
    }
    Trial t;
    t.outcome = wanted_.run(one, left);
    t.found = one.found();
    t.steps = one.steps();
    return t;
  }

  // Each difference in turn: what made one is left alone from then on.
  void look(std::size_t contents, Places& places) {
    while (findings_.size() < kMaxFindings) {
      const Trial t = trial(LocalTrial::Goal::compare, contents, places);
      compared_ = std::max(compared_, t.steps);
      const bool ended_early = t.outcome.ending == Ending::budget_wall ||
                               t.outcome.ending == Ending::budget_instructions;
      is_partial_ = is_partial_ || ended_early;
      if (!t.found) return;
      const Trial base = trial(LocalTrial::Goal::reach, 0, {}, t.steps);
      if (!base.found) {
        is_partial_ = true;
        return;
      }
      const Places guilty = isolate(contents, places, t.steps);
      tell(*base.found, *t.found, guilty);
      // Nothing more can be told apart from this one.
      if (guilty.size() != 1) return;
      forget(places, guilty.front());
    }
  }

  // The one place whose contents make the difference at step `last`, by halving; more than one if
  // it takes several.
  Places isolate(std::size_t contents, Places places, std::uint64_t last) {
    while (places.size() > 1 && !out_of_time()) {
      const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
      const Places lower(places.begin(), middle);
      const Places upper(middle, places.end());
      if (trial(LocalTrial::Goal::compare, contents, lower, last).found) {
        places = lower;
      } else if (trial(LocalTrial::Goal::compare, contents, upper, last).found) {
        places = upper;
      } else {
        break;
      }
    }
    return places;
  }

  // All of a variable is told at once.
  void forget(Places& places, std::uint32_t guilty) {
    const LocalPlace& place = fill_.places()[guilty];
    const auto name = names_.of(place);
    std::erase_if(places, [&](std::uint32_t i) {
      if (i == guilty) return true;
      const LocalPlace& other = fill_.places()[i];
      if (!name || other.function != place.function) return false;
      const auto of_other = names_.of(other);
      return of_other && of_other->variable == name->variable;
    });
  }

  void tell(const LocalStep& base, const LocalStep& other, const Places& guilty) {
    std::string effect;
    const unsigned lane = differing_lane(base, other, effect);
    const Module::Text& text = wanted_.text;
    Finding f{.kind = FindingKind::uninitialised_local};
    f.instruction = text.instruction_at(base.pc);
    f.where = text.where_pc(base.pc);
    f.inlined_at = text.inlined_at(base.pc);
    // The compiler's own functions have no lines, or none that say anything: then it is their
    // caller's.
    for (const std::uint32_t pc : base.callers) {
      const SourceLine at = text.where_pc(pc);
      if (f.where.line == 0 || f.where.file.ends_with("crt/mma.hpp") || f.where.file == "mma.hpp") {
        f.where = at;
      } else {
        f.inlined_at.push_back(at);
      }
    }
    f.other_where = f.where;
    f.block = base.block;
    const Dim3& b = wanted_.launch.block;
    const std::uint32_t t = base.warp * 32 + lane;
    f.thread = {t % b.x, t / b.x % b.y, t / b.x / b.y};
    const std::string subject = name_place(f, guilty);
    f.message = "Uninitialised " + subject + " " + effect + ", by thread " + text_of(f.thread) +
                " in block " + text_of(f.block);
    findings_.push_back(std::move(f));
  }

  std::string name_place(Finding& f, const Places& guilty) {
    if (guilty.size() != 1) return "local variable";
    const LocalPlace& place = fill_.places()[guilty.front()];
    const std::string& function = wanted_.text.functions[place.function].name;
    if (const auto name = names_.of(place)) {
      f.buffer = name->variable;
      f.buffer_offset_bytes = name->offset_bytes;
      f.access_bytes = place.bytes;
      if (place.kind == LocalPlace::Kind::reg || name->offset_bytes == 0) {
        return "local '" + f.buffer + "'";
      }
      return "local '" + f.buffer + "' (byte " + std::to_string(name->offset_bytes) + ")";
    }
    if (place.kind == LocalPlace::Kind::result) return "result of '" + function + "'";
    if (place.kind == LocalPlace::Kind::reg) return "local variable";
    return "local array or structure (byte " + std::to_string(place.offset) +
           " of the local memory of '" + function + "')";
  }

  // The first lane that does something else, and what that is.
  unsigned differing_lane(const LocalStep& a, const LocalStep& b, std::string& effect) const {
    const auto first = [](std::uint32_t lanes) {
      return static_cast<unsigned>(__builtin_ctz(lanes));
    };
    if (a.pc != b.pc || a.active != b.active || a.block.x != b.block.x || a.warp != b.warp) {
      effect = "decides what is executed";
      return first(a.active != b.active ? a.active ^ b.active : a.active);
    }
    const std::string instruction = wanted_.text.instruction_at(a.pc);
    const bool jumps = instruction.find("bra") != std::string::npos ||
                       instruction.find("brx") != std::string::npos ||
                       instruction.find("ret") != std::string::npos;
    if (a.pass != b.pass) {
      effect = jumps ? "decides a branch" : "decides what is executed";
      return first(a.pass ^ b.pass);
    }
    for (std::uint32_t m = a.pass; m != 0; m &= m - 1) {
      const unsigned k = first(m);
      if (a.addresses[k] != b.addresses[k]) {
        effect = jumps ? "decides a branch" : "is part of an address";
        return k;
      }
      for (unsigned i = 0; i < a.values; ++i) {
        if (a.value[i][k] == b.value[i][k]) continue;
        const std::uint64_t before = a.is_tile ? 0 : std::uint64_t{i} * a.value_bytes;
        effect =
            (a.is_tile ? "is part of the matrix that is stored" : "is part of what is stored") +
            place_text(a.addresses[k] + before, a);
        return k;
      }
    }
    effect = "has an effect";
    return first(a.active);
  }

  // " in element 3 of 'out'"
  [[nodiscard]] std::string place_text(std::uint64_t address, const LocalStep& step) const {
    for (const Buffer& b : wanted_.buffers) {
      if (address - b.address >= b.bytes.size()) continue;
      Finding at;
      at.buffer = b.name;
      at.buffer_offset_bytes = static_cast<std::int64_t>(address - b.address);
      at.access_bytes = step.value_bytes;
      return " in " + element_text(at);
    }
    return " in global memory";
  }

  const LocalSearch& wanted_;
  LocalNames names_;
  SteppedCode code_;
  LocalFill fill_;
  BlockSample sample_;
  StepRecord record_{};
  std::vector<std::vector<std::byte>> saved_{};
  std::vector<Finding> findings_{};
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + wanted_.wall;
  std::uint64_t compared_ = 0;
  bool is_partial_ = false;
};

}  // namespace

// Copies of the buffers are ours, so that a machine without room for them is no fault of the
// kernel.
Outcome find_local_reads(const LocalSearch& search) {
  try {
    return Search(search).run();
  } catch (const std::bad_alloc&) {
    Outcome outcome;
    outcome.inspection_notes.emplace_back(
        "Locals were not looked at: no memory for a copy of the tensors.");
    return outcome;
  }
}

}  // namespace assay::emulator
