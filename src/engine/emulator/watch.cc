#include "engine/emulator/watch.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"

namespace assay::emulator {
namespace {

constexpr std::uint32_t kLastTime = 0xFFFF'FFFE;

bool is_access(SiteKind k) {
  return k == SiteKind::load || k == SiteKind::store || k == SiteKind::atomic ||
         k == SiteKind::other_access;
}

bool is_counted(SiteKind k) { return k == SiteKind::load || k == SiteKind::store; }

bool is_wanted(const Inspection& wanted, SiteKind k) {
  if (wanted.counters && is_counted(k)) return true;
  if (is_counted(k) || k == SiteKind::atomic) return wanted.memory() || wanted.numbers;
  return is_access(k) ? wanted.memory() || wanted.numbers : wanted.numbers;
}

void op_watched(Warp& w, const Op& op) {
  Watch& watch = *w.watch;
  watch.before(w, op);
  w.originals[op_pc(w, op)].masked(w, op);
  watch.after(w, op);
}

void op_counted(Warp& w, const Op& op) {
  w.watch->count(w, op);
  w.originals[op_pc(w, op)].masked(w, op);
}
void op_counted_whole(Warp& w, const Op& op) {
  w.watch->count(w, op);
  w.originals[op_pc(w, op)].full(w, op);
}

Handlers counting_handlers(const WatchedSite& site, const InspectionSet& set) {
  if (site.space == Space::shared && site.address == AddressClass::shared32) {
    return set.count_shared;
  }
  if (site.space == Space::shared && site.address == AddressClass::shared64) {
    return set.count_shared_wide;
  }
  return {&op_counted_whole, &op_counted};
}

bool is_guarded(const Op& op) { return op.full == &op_guarded || op.full == &op_guarded_control; }

// "[%rd1+4" of an instruction.
std::string address_in(const std::string& instruction) {
  const std::size_t begin = std::min(instruction.find('['), instruction.size());
  return instruction.substr(begin, instruction.find(']') - begin);
}

// The operand after the word at `at`.
std::string word_from(const std::string& instruction, std::size_t at) {
  constexpr const char* kBetween = ", \t";
  at = instruction.find_first_of(kBetween, std::min(at, instruction.size()));
  const std::size_t begin = instruction.find_first_not_of(kBetween, at);
  if (begin == std::string::npos) return {};
  return instruction.substr(begin, instruction.find_first_of(", \t;", begin) - begin);
}

std::uint64_t blocks_of(const Dim3& grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }

}  // namespace

Watch::Watch(LaunchState& launch, std::span<const Buffer> buffers)
    : launch_(launch),
      wanted_(launch.launch.inspection),
      sample_(blocks_of(launch.launch.grid), wanted_.checked_blocks, wanted_.seed),
      code_(launch.text.code),
      set_(*instruction_set().inspection) {
  site_of_.assign(code_.size(), -1);
  originals_.resize(code_.size());
  watch_ops(code_, wanted_.checks());
  if (wanted_.races) find_swap_seeds();
  find_shared_variables();
  divergent_.assign(code_.size() + 1, 0);
  if (wanted_.counters) {
    executed_.resize(code_.size() + 1);
    traffic_ = std::make_unique<Traffic>(launch.memory, code_.size(), set_);
    if (!sample_.is_all()) {
      counted_code_ = launch.text.code;
      watch_ops(counted_code_, false);
    }
  }
  for (const Object& o : launch.memory.objects()) {
    const bool untouched = std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& b) {
      return b.address == o.begin && !b.initialised;
    });
    // A block that is not looked at may have written what one that is looked at reads.
    const bool is_heap = o.begin == kHeapBase;
    if (is_heap) heap_object_ = static_cast<std::int32_t>(is_tracked_.size());
    const bool track = wanted_.initialised && (untouched || is_heap) && sample_.is_all();
    is_tracked_.push_back(track ? 1 : 0);
    written_.emplace_back(track ? o.end - o.begin : 0);
    // What an earlier launch left there may be read; what malloc() returns may not.
    if (track && is_heap) written_.back().add(0, kHeapBytes);
  }
}

Watch::~Watch() = default;

// `old = *p; do { seen = old; old = atomicCAS(p, seen, …) } while (…)`: the first read may see
// anything, as the swap looks again. Known by its address or its register, which are those of a
// swap in its function.
void Watch::find_swap_seeds() {
  const Module::Text& text = launch_.text;
  seeds_swap_.assign(text.code.size(), 0);
  std::set<std::pair<std::ptrdiff_t, std::string>> of_swaps;  // by function
  const auto function_of = [&](std::uint32_t pc) {
    const auto f = std::find_if(text.functions.begin(), text.functions.end(),
                                [&](const auto& g) { return pc >= g.entry_pc && pc < g.end_pc; });
    return f - text.functions.begin();
  };
  for (const WatchedSite& site : text.watched) {
    if (site.kind != SiteKind::atomic) continue;
    const std::string swap = text.instruction_at(site.pc);
    if (swap.find(".cas.") == std::string::npos) continue;
    of_swaps.insert({function_of(site.pc), address_in(swap)});
    of_swaps.insert({function_of(site.pc), word_from(swap, swap.find(']'))});
  }
  if (of_swaps.empty()) return;
  for (const WatchedSite& site : text.watched) {
    if (site.kind != SiteKind::load) continue;
    const std::string load = text.instruction_at(site.pc);
    const std::ptrdiff_t f = function_of(site.pc);
    const bool is_seed = of_swaps.contains({f, address_in(load)}) ||
                         of_swaps.contains({f, word_from(load, load.find("ld."))});
    seeds_swap_[site.pc] = is_seed ? 1 : 0;
  }
}

void Watch::watch_ops(std::vector<Op>& code, bool checks) {
  const Module::Text& text = launch_.text;
  for (std::size_t i = 0; i < text.watched.size(); ++i) {
    const WatchedSite& site = text.watched[i];
    const bool counted = wanted_.counters && is_counted(site.kind);
    if (checks ? !is_wanted(wanted_, site.kind) : !counted) continue;
    site_of_[site.pc] = static_cast<std::int32_t>(i);
    Op& op = code[site.pc];
    const Handlers handlers =
        checks ? Handlers{&op_watched, &op_watched} : counting_handlers(site, set_);
    if (is_guarded(op)) {
      originals_[site.pc] = {op.inner, op.inner};
      op.inner = handlers.masked;
    } else {
      originals_[site.pc] = {op.full, op.masked};
      op.full = handlers.full;
      op.masked = handlers.masked;
    }
  }
}

const Op* Watch::code_of(const BlockWatch* block) const {
  if (block != nullptr || sample_.is_all()) return code_.data();
  return counted_code_.empty() ? launch_.text.code.data() : counted_code_.data();
}

std::unique_ptr<BlockWatch> Watch::block_watch(Dim3 index) const {
  const Dim3& g = launch_.launch.grid;
  const Dim3& b = launch_.launch.block;
  const std::uint64_t number =
      index.x + std::uint64_t{g.x} * (index.y + std::uint64_t{g.y} * index.z);
  if (!wanted_.checks() || !sample_.holds(number)) return nullptr;
  return std::make_unique<BlockWatch>(static_cast<std::uint32_t>(number), b.x * b.y * b.z,
                                      launch_.shared_bytes);
}

void Watch::attach(Warp& w) {
  w.watch = this;
  w.originals = originals_.data();
  w.executed = wanted_.counters ? executed_.data() : nullptr;
  w.shapes = wanted_.counters ? traffic_->recent() : nullptr;
}

void Watch::count(Warp& w, const Op& op) {
  traffic_->note(w, op, launch_.text.watched[static_cast<std::size_t>(site_of_[op_pc(w, op)])]);
}

// Times do not begin anew: what is left of the launch runs without a look at races.
bool Watch::next_time() {
  if (time_ < kLastTime) {
    ++time_;
    return true;
  }
  time_is_over_ = time_is_over_ || wanted_.races;
  wanted_.races = false;
  return false;
}

void Watch::before(Warp& w, const Op& op) {
  const std::uint32_t pc = op_pc(w, op);
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[pc])];
  current_pc_ = pc;
  if (is_access(site.kind)) next_time();
  if (wanted_.numbers) numbers_before(w, op, site);
  switch (site.kind) {
    case SiteKind::load:
    case SiteKind::store:
      if (wanted_.numbers) check_address(w, op, site);
      access(w, op, site);
      break;
    case SiteKind::atomic:
    case SiteKind::other_access:
      if (wanted_.numbers && site.kind == SiteKind::atomic) check_address(w, op, site);
      current_atomic_ = site.kind == SiteKind::atomic;
      w.recording = wanted_.memory();
      break;
    case SiteKind::division:
      check_division(w, op, site);
      break;
    case SiteKind::product:
    case SiteKind::comparison:
      break;
    case SiteKind::number:
      if (site.selects_index()) note_index(w, op, site);
      break;
    case SiteKind::index:
      note_index(w, op, site);
      break;
  }
}

void Watch::after(Warp& w, const Op& op) {
  w.recording = false;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  if (w.event == Event::fault) return;
  if (wanted_.numbers) numbers_after(w, op, site);
  if (site.kind == SiteKind::index || site.selects_index()) check_index(w, op, site);
}

}  // namespace assay::emulator
