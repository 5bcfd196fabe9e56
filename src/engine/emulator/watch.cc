#include "engine/emulator/watch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"

namespace assay::emulator {
namespace {

bool is_access(SiteKind k) {
  return k == SiteKind::load || k == SiteKind::store || k == SiteKind::atomic ||
         k == SiteKind::other_access;
}

bool is_wanted(const Inspection& wanted, SiteKind k) {
  if (is_access(k)) return wanted.races || wanted.initialised || wanted.counters;
  return wanted.numbers;
}

void op_watched(Warp& w, const Op& op) {
  Watch& watch = *w.watch;
  const Handler original = watch.original(op_pc(w, op));
  watch.before(w, op);
  original(w, op);
  watch.after(w, op);
}

bool is_guarded(const Op& op) { return op.full == &op_guarded || op.full == &op_guarded_control; }

std::array<std::uint64_t, 32> lane_addresses(Warp& w, const Op& op, AddressClass address) {
  std::array<std::uint64_t, 32> a{};
  const bool narrow = address == AddressClass::shared32;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<std::size_t>(__builtin_ctz(m));
    if (narrow) {
      std::uint32_t low = 0;
      std::memcpy(&low, w.rows + op.a + k * 4, 4);
      a[k] = low + static_cast<std::uint32_t>(op.imm);
    } else {
      std::memcpy(&a[k], w.rows + op.a + k * 8, 8);
      a[k] += static_cast<std::uint64_t>(op.imm);
    }
  }
  return a;
}

}  // namespace

Watch::Watch(LaunchState& launch, std::span<const Buffer> buffers)
    : launch_(launch), wanted_(launch.launch.inspection), code_(launch.text.code) {
  const Module::Text& text = launch.text;
  site_of_.assign(code_.size(), -1);
  for (std::size_t i = 0; i < text.watched.size(); ++i) {
    const WatchedSite& site = text.watched[i];
    if (!is_wanted(wanted_, site.kind)) continue;
    site_of_[site.pc] = static_cast<std::int32_t>(i);
    Op& op = code_[site.pc];
    if (is_guarded(op)) {
      op.inner = &op_watched;
    } else {
      op.full = &op_watched;
      op.masked = &op_watched;
    }
  }
  divergent_.assign(code_.size() + 1, 0);
  if (wanted_.counters) {
    executed_.resize(code_.size() + 1);
    traffic_ = std::make_unique<Traffic>(launch.memory, code_.size());
  }
  for (const Object& o : launch.memory.objects()) {
    const bool untouched = std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& b) {
      return b.address == o.begin && !b.initialised;
    });
    const bool track = wanted_.initialised && untouched;
    is_tracked_.push_back(track ? 1 : 0);
    written_.emplace_back(track ? o.end - o.begin : 0);
  }
}

Watch::~Watch() = default;

std::unique_ptr<BlockWatch> Watch::block_watch(Dim3 index) const {
  const Dim3& g = launch_.launch.grid;
  const Dim3& b = launch_.launch.block;
  const std::uint64_t number =
      index.x + std::uint64_t{g.x} * (index.y + std::uint64_t{g.y} * index.z);
  return std::make_unique<BlockWatch>(static_cast<std::uint32_t>(number),
                                      (b.x * b.y * b.z + 31) / 32, launch_.shared_bytes);
}

void Watch::attach(Warp& w) {
  w.watch = this;
  w.executed = wanted_.counters ? executed_.data() : nullptr;
}

Handler Watch::original(std::uint32_t pc) const {
  const Op& op = launch_.text.code[pc];
  return is_guarded(op) ? op.inner : op.masked;
}

void Watch::before(Warp& w, const Op& op) {
  const std::uint32_t pc = op_pc(w, op);
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[pc])];
  current_pc_ = pc;
  switch (site.kind) {
    case SiteKind::load:
    case SiteKind::store:
      ++time_;
      lanes_touch(w, op, site);
      break;
    case SiteKind::atomic:
    case SiteKind::other_access:
      ++time_;
      current_atomic_ = site.kind == SiteKind::atomic;
      w.recording = wanted_.races || wanted_.initialised;
      break;
    case SiteKind::division:
      check_division(w, op, site);
      break;
    case SiteKind::number:
      note_sources(w, op, site);
      break;
  }
}

void Watch::after(Warp& w, const Op& op) {
  w.recording = false;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  if (site.kind == SiteKind::number && w.event != Event::fault) check_result(w, op, site);
}

void Watch::lanes_touch(Warp& w, const Op& op, const WatchedSite& site) {
  const auto addresses = lane_addresses(w, op, site.address);
  const unsigned bytes = bytes_of(site.type) * site.elements;
  if (wanted_.counters) count_traffic(w, site, addresses);
  if (!wanted_.races && !wanted_.initialised) return;
  const bool write = site.kind == SiteKind::store;
  const std::array<std::uint32_t, 4> rows{op.d, op.b, op.c, op.e};
  store_ = write ? StoreAtHand{&addresses, rows, site.row_bytes, bytes_of(site.type), site.elements}
                 : StoreAtHand{};
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    MemoryTouch t{.space = site.space,
                  .lane = k,
                  .address = addresses[k],
                  .bytes = bytes,
                  .write = write,
                  .is_volatile = site.synchronising};
    if (write && wanted_.races) t.same_value = writes_what_is_there(w, t);
    touch(w, t);
  }
  store_ = {};
}

bool Watch::writes_what_is_there(Warp& w, const MemoryTouch& t) const {
  const std::byte* const p = host_address(w, t.space, t.lane, t.address, t.bytes, true);
  if (p == nullptr) return false;
  for (unsigned i = 0; i < store_.elements; ++i) {
    const std::byte* const value = w.rows + store_.rows[i] + t.lane * store_.row_bytes;
    if (std::memcmp(p + i * store_.element_bytes, value, store_.element_bytes) != 0) return false;
  }
  return true;
}

bool Watch::same_store(Warp& w, unsigned a, unsigned b) const {
  if (store_.addresses == nullptr || (*store_.addresses)[a] != (*store_.addresses)[b]) return false;
  for (unsigned i = 0; i < store_.elements; ++i) {
    const std::byte* const row = w.rows + store_.rows[i];
    if (std::memcmp(row + a * store_.row_bytes, row + b * store_.row_bytes, store_.element_bytes) !=
        0) {
      return false;
    }
  }
  return true;
}

void Watch::count_traffic(Warp& w, const WatchedSite& site,
                          const std::array<std::uint64_t, 32>& addresses) {
  const unsigned bytes = bytes_of(site.type) * site.elements;
  const std::uint64_t first = addresses[static_cast<std::size_t>(__builtin_ctz(w.active))];
  const bool in_window = site.space == Space::generic && first - kSharedWindow < kWindowBytes;
  traffic_->is_store[current_pc_] = site.kind == SiteKind::store ? 1 : 0;
  if (site.space == Space::shared || in_window) {
    traffic_->note_shared(current_pc_, addresses, w.active, bytes);
  } else if (site.space == Space::global ||
             (site.space == Space::generic && first - kLocalWindow >= kWindowBytes)) {
    traffic_->note_global(current_pc_, launch_.memory, addresses, w.active, bytes);
  }
}

bool Watch::locate(const Warp& w, const MemoryTouch& t, MemoryPlace& out) const {
  Space space = t.space;
  std::uint64_t address = t.address;
  if (space == Space::generic) {
    if (address - kLocalWindow < kWindowBytes || address - kParamWindow < kWindowBytes)
      return false;
    space = Space::global;
    if (address - kSharedWindow < kWindowBytes) {
      space = Space::shared;
      address -= kSharedWindow;
    }
  }
  if (t.bytes == 0) return false;
  out = {.space = space, .offset = address};
  if (space == Space::shared)
    return address <= w.shared_bytes && w.shared_bytes - address >= t.bytes;
  if (space != Space::global) return false;
  out.object = launch_.memory.find(address, t.bytes);
  return out.object >= 0;
}

void Watch::touch(Warp& w, const MemoryTouch& given) {
  MemoryTouch t = given;
  t.atomic = t.atomic || (w.recording && current_atomic_);
  MemoryPlace at;
  if (!locate(w, t, at)) return;
  if (wanted_.initialised) check_written(w, t, at);
  if (!wanted_.races) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool meets = t.atomic || t.is_volatile;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  if (site.orders) fence(w);
  const std::uint64_t word = at.space == Space::shared ? kSharedWindow + at.offset : at.offset;
  if (meets && (t.atomic || !t.write)) clocks.acquire(word, w.index);
  if (meets && at.space == Space::global) grid_.meet(clocks.block(), time_);
  // The words that blocks of a grid meet by are the runtime's own.
  if (at.offset - kGridWorkspace >= kGridWorkspaceBytes) check_races(w, t, at);
  if (meets && t.write) clocks.release(word, w.index);
}

void Watch::check_written(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  const bool shared = at.space == Space::shared;
  if (!shared && is_tracked_[static_cast<std::size_t>(at.object)] == 0) return;
  std::uint64_t begin = at.offset;
  if (!shared) begin -= launch_.memory.objects()[static_cast<std::size_t>(at.object)].begin;
  ByteSet& written =
      shared ? w.block->watch_state()->written : written_[static_cast<std::size_t>(at.object)];
  const bool reads = !t.write || t.atomic;
  if (reads && written.first_missing(begin, t.bytes) != begin + t.bytes) {
    const FindingKind kind =
        shared ? FindingKind::uninitialised_shared : FindingKind::uninitialised_global;
    bool fresh = false;
    Finding& f = add({kind, current_pc_, t.lane, current_pc_}, w, fresh);
    if (fresh) {
      name_memory(f, t, at);
      f.message = std::string("Uninitialised ") + (shared ? "__shared__" : "__global__") +
                  " memory read of size " + std::to_string(t.bytes) + " of " + element_text(f) +
                  " by thread " + text_of(f.thread) + " in block " + text_of(f.block);
    }
  }
  if (t.write) written.add(begin, t.bytes);
}

void Watch::check_races(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  BlockWatch& block = *w.block->watch_state();
  RaceShadow& shadow = at.space == Space::shared ? block.shared : global_;
  Touch now{.time = time_, .pc = current_pc_, .atomic = t.atomic, .is_volatile = t.is_volatile};
  block.clocks.stamp(now, w.index, t.lane);
  const std::uint64_t end = at.offset + t.bytes;
  for (std::uint64_t a = at.offset & ~std::uint64_t{3}; a < end; a += 4) {
    Granule* const g = shadow.at(a);
    if (g == nullptr) return;
    const std::uint64_t from = std::max(a, at.offset) - a;
    const std::uint64_t to = std::min(a + 4, end) - a;
    now.bytes = static_cast<std::uint8_t>(((1U << to) - 1) & ~((1U << from) - 1));
    if (g->write.time != 0) compare(w, t, at, now, g->write, true);
    if (g->atomic.time != 0) compare(w, t, at, now, g->atomic, true);
    for (const Touch& r : g->reads) {
      if (t.write && r.time != 0) compare(w, t, at, now, r, false);
    }
    if (t.atomic) {
      g->atomic = now;
    } else if (t.write) {
      *g = {.write = now};
    } else {
      g->note_read(now);
    }
  }
}

void Watch::compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& now,
                    const Touch& earlier, bool earlier_wrote) {
  if ((earlier.bytes & now.bytes) == 0 || (earlier.atomic && now.atomic)) return;
  const bool same_block = earlier.block == now.block;
  const bool same_warp = same_block && earlier.warp == now.warp;
  const BlockClocks& clocks = w.block->watch_state()->clocks;
  if (same_block ? clocks.ordered(earlier, w.index, t.lane) : grid_.ordered(earlier, now.block)) {
    return;
  }
  const bool both_write = t.write && earlier_wrote;
  if (same_warp && earlier.time == now.time) {
    if (!both_write || same_store(w, earlier.lane, t.lane)) return;
  } else if (both_write && t.same_value) {
    return;
  }
  if (same_warp && earlier.is_volatile && now.is_volatile) return;
  const FindingKind kind = same_warp                   ? FindingKind::warp_race
                           : at.space == Space::shared ? FindingKind::shared_race
                                                       : FindingKind::global_race;
  bool fresh = false;
  Finding& f = add({kind, now.pc, t.lane, earlier.pc}, w, fresh);
  if (!fresh) return;
  f.is_warning = same_warp && !both_write;
  f.other_block = block_of(earlier.block);
  f.other_thread = thread_of(earlier.warp, earlier.lane);
  name_memory(f, t, at);
  const char* const after = earlier_wrote ? "write" : "read";
  const char* const what = t.write ? "Write" : "Read";
  f.message = std::string("Race: ") + what + " after " + after + " without synchronisation of " +
              element_text(f) + ": thread " + text_of(f.other_thread) + " in block " +
              text_of(f.other_block) + " at line " + std::to_string(f.other_where.line) +
              ", then thread " + text_of(f.thread) + " in block " + text_of(f.block);
}

void Watch::warp_synchronised(Warp& w, std::uint32_t lanes) {
  if (wanted_.races) w.block->watch_state()->clocks.warp_synchronised(w.index, lanes);
}

void Watch::fence(Warp& w) {
  if (!wanted_.races) return;
  w.block->watch_state()->clocks.fence(w.index);
  grid_.fence(w.block->watch_state()->clocks.block(), time_);
}

bool Watch::is_aligned_barrier(std::uint32_t pc) {
  const auto [at, fresh] = aligned_.try_emplace(pc, false);
  if (fresh) {
    std::string text = launch_.text.instruction_at(pc);
    if (!text.empty() && text.front() == '@') text.erase(0, text.find_first_of(" \t") + 1);
    text = text.substr(text.find_first_not_of(" \t"));
    const std::string opcode = text.substr(0, text.find_first_of(" \t"));
    at->second = opcode.starts_with("bar.") || opcode.find(".aligned") != std::string::npos;
  }
  return at->second;
}

bool Watch::others_return(const Warp& w) {
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    const Op* op = w.code + g.pc;
    for (int hops = 0; hops < 8 && op->full == &op_branch; ++hops) op = w.code + op->target;
    const bool leaves = (op->full == &op_return || op->full == &op_exit) && g.frame->depth == 0;
    if (g.state != GroupState::ready || !leaves) return false;
  }
  return true;
}

void Watch::barrier_arrival(Warp& w, const Op& op, const BarrierMeeting& meeting) {
  const std::uint32_t pc = op_pc(w, op);
  const auto lane = static_cast<unsigned>(__builtin_ctz(w.active));
  if (wanted_.races) w.block->watch_state()->clocks.arrive(meeting.barrier, w.index);
  if (!wanted_.barriers || !is_aligned_barrier(pc)) return;
  bool fresh = false;
  if (w.active != w.live && !others_return(w)) {
    Finding& f = add({FindingKind::divergent_barrier, pc, lane, pc}, w, fresh);
    if (fresh) {
      f.message = "Barrier in divergent code: " + std::to_string(__builtin_popcount(w.active)) +
                  " of " + std::to_string(__builtin_popcount(w.live)) +
                  " threads of the warp reached it together; first thread " + text_of(f.thread) +
                  " in block " + text_of(f.block);
    }
  }
}

void Watch::barrier_leave(Warp& w, const Group& group, const BarrierMeeting& meeting) {
  if (wanted_.races) {
    w.block->watch_state()->clocks.leave(meeting.barrier, w.index, group.mask);
  }
  if (!wanted_.barriers || !meeting.whole_block) return;
  bool fresh = false;
  const auto lane = static_cast<unsigned>(__builtin_ctz(group.mask));
  if (meeting.exited != 0 && is_aligned_barrier(group.members)) {
    Finding& f =
        add({FindingKind::barrier_after_exit, group.members, lane, group.members}, w, fresh);
    f.is_warning = true;
    if (fresh) {
      f.message = "Barrier passed after " + std::to_string(meeting.exited) +
                  " threads of the block had returned; block " + text_of(f.block);
    }
  }
  if (group.members == meeting.first_pc) return;
  if (!is_aligned_barrier(group.members) || !is_aligned_barrier(meeting.first_pc)) return;
  if (line_of(group.members) == line_of(meeting.first_pc)) return;
  Finding& f =
      add({FindingKind::mismatched_barrier, group.members, lane, meeting.first_pc}, w, fresh);
  if (!fresh) return;
  f.message = "Threads of one block met at different barriers: thread " + text_of(f.thread) +
              " in block " + text_of(f.block) + " here, others at line " +
              std::to_string(f.other_where.line);
}

void Watch::barrier_done(BlockWatch& block, unsigned barrier) {
  if (wanted_.races) block.clocks.reset_barrier(barrier);
}

void Watch::inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from) {
  if (!wanted_.barriers) return;
  const std::uint32_t pc = op_pc(w, op);
  bool fresh = false;
  Finding& f = add({FindingKind::inactive_shuffle, pc, lane, pc}, w, fresh);
  if (!fresh) return;
  f.message = "Shuffle from lane " + std::to_string(from) +
              ", which does not take part: the value is undefined; thread " + text_of(f.thread) +
              " in block " + text_of(f.block);
}

void Watch::check_division(Warp& w, const Op& op, const WatchedSite& site) {
  const unsigned bytes = bytes_of(site.type);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::uint64_t divisor = 0;
    std::memcpy(&divisor, w.rows + op.b + k * bytes, bytes);
    if (divisor != 0) continue;
    bool fresh = false;
    Finding& f = add({FindingKind::division_by_zero, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = "Integer division by zero by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

namespace {

double float_at(Warp& w, std::uint32_t row, unsigned lane, Type type) {
  if (type == Type::f32) {
    float v = 0;
    std::memcpy(&v, w.rows + row + lane * 4, 4);
    return static_cast<double>(v);
  }
  double v = 0;
  std::memcpy(&v, w.rows + row + lane * 8, 8);
  return v;
}

}  // namespace

void Watch::note_sources(Warp& w, const Op& op, const WatchedSite& site) {
  finite_sources_ = 0;
  const std::array<std::uint32_t, 3> rows{op.a, op.b, op.c};
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    bool finite = true;
    for (unsigned i = 0; i < site.elements; ++i) {
      finite = finite && std::isfinite(float_at(w, rows[i], k, site.type));
    }
    finite_sources_ |= static_cast<std::uint32_t>(finite) << k;
  }
}

void Watch::check_result(Warp& w, const Op& op, const WatchedSite& site) {
  for (std::uint32_t m = w.active & finite_sources_; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const double v = float_at(w, op.d, k, site.type);
    if (std::isfinite(v)) continue;
    const bool nan = std::isnan(v);
    // Only the first of each kind: the rest follows from it.
    bool& seen = nan ? seen_nan_ : seen_infinity_;
    const FindingKind kind = nan ? FindingKind::not_a_number : FindingKind::infinity;
    if (seen && (findings_.empty() || !is_known({kind, current_pc_, k, current_pc_}))) continue;
    seen = true;
    bool fresh = false;
    Finding& f = add({kind, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = std::string(nan ? "First NaN" : "First infinity") +
                  " made of finite numbers by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

}  // namespace assay::emulator
