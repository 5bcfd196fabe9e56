// What a watch makes of copies that run beside the threads: until they have arrived their target is
// nobody's, not even of the thread that asked for them.
#include <algorithm>
#include <utility>

#include "engine/emulator/block.h"
#include "engine/emulator/mbarrier_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

Mark write_at(RaceShadow& shadow, std::uint64_t offset) {
  const GranulePage* const page = shadow.page_at(offset);
  return page == nullptr ? Mark{} : page->write.at(offset % GranulePage::kBytes / 4);
}

void put_write(RaceShadow& shadow, std::uint64_t offset, Mark mark) {
  GranulePage* const page = shadow.page_at(offset);
  if (page != nullptr) page->write.put(offset % GranulePage::kBytes / 4, mark);
}

}  // namespace

void CopySources::add(std::uint64_t target, const CopySource& source) {
  const bool is_first = by_target.empty();
  begin = is_first ? source.begin : std::min(begin, source.begin);
  end = is_first ? source.end : std::max(end, source.end);
  by_target[target] = source;
}

const CopySource* CopySources::at(std::uint64_t address, std::uint64_t bytes) const {
  const CopySource* first = nullptr;  // of several that of the lowest thread, in every run
  for (const auto& [to, s] : by_target) {
    if (address >= s.end || address + bytes <= s.begin) continue;
    if (first == nullptr || std::pair{s.warp, s.lane} < std::pair{first->warp, first->lane}) {
      first = &s;
    }
  }
  return first;
}

void Watch::copy_begins(Warp& w, const CopyAsked& copy) {
  BlockWatch& block = *w.block->watch_state();
  if (!block.copies) block.copied = ByteSet(launch_.shared_bytes);
  block.copies = true;
  block.copied.add(copy.to, copy.bytes);
  MemoryPlace at;
  const MemoryTouch from{.space = copy.from_space, .address = copy.from, .bytes = copy.read};
  if (!wanted_.races || !locate(w, from, at) || at.space != Space::global) return;
  block.sources.add(copy.to, {.begin = at.offset,
                              .end = at.offset + copy.read,
                              .pc = current_pc_,
                              .warp = w.index,
                              .lane = copy.lane});
}

bool Watch::is_a_source(Warp& w, const MemoryPlace& at, std::uint64_t bytes) const {
  const CopySources& sources = w.block->watch_state()->sources;
  return at.space == Space::global && sources.may_be_at(at.offset, bytes);
}

// When a copy reads is its own affair until somebody has waited for it, whoever asked. Other
// blocks' writes are races without that.
void Watch::check_source(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  if (!wanted_.races || !t.write || !is_a_source(w, at, t.bytes)) return;
  const CopySource* const copy = w.block->watch_state()->sources.at(at.offset, t.bytes);
  if (copy == nullptr) return;
  bool fresh = false;
  Finding& f = add({FindingKind::global_race, current_pc_, t.lane, copy->pc}, w, fresh);
  if (!fresh) return;
  f.other_block = f.block;
  f.other_thread = thread_of(copy->warp, copy->lane);
  name_memory(f, t, at);
  f.message = "Race: Write to " + element_text(f) + " by thread " + text_of(f.thread) +
              " in block " + text_of(f.block) +
              " while an asynchronous copy from it is under way, which thread " +
              text_of(f.other_thread) + " asked for at line " + std::to_string(f.other_where.line) +
              " and nobody has waited for yet";
}

bool Watch::is_at_mbarrier() const {
  const Handler h = originals_[current_pc_].masked;
  return h == &op_mbarrier || h == &op_mbarrier_test || h == &op_bulk_copy;
}

// 0: nothing that is looked at.
std::uint64_t Watch::word_of(const Warp& w, const std::byte* barrier) {
  const bool is_own = barrier >= w.shared && barrier < w.shared + w.shared_bytes;
  if (w.block->watch_state() == nullptr || !is_own) return 0;
  return kSharedWindow + static_cast<std::uint64_t>(barrier - w.shared);
}

void Watch::phases_begin(Warp& w, const std::byte* barrier) {
  const std::uint64_t word = word_of(w, barrier);
  if (word != 0) w.block->watch_state()->clocks.phases_begin(word);
}

void Watch::phase_over(Warp& w, const std::byte* barrier) {
  const std::uint64_t word = word_of(w, barrier);
  if (word != 0) w.block->watch_state()->clocks.phase_over(word);
}

// Who has a state of its arrival waits for that phase and no other.
void Watch::phase_seen(Warp& w, const std::byte* barrier, const Op& op, unsigned lane) {
  const std::uint64_t word = word_of(w, barrier);
  if (word == 0 || !wanted_.races) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool by_parity = (op.aux >> 16 & 1U) != 0;
  if (!by_parity) return clocks.acquire(word, w.index);
  clocks.phase_seen(word, w.index, (bits_held(w, op.b, lane, 4) & 1U) != 0);
}

bool Watch::is_under_way(Warp& w, const MemoryPlace& at, std::uint64_t bytes) {
  const BlockWatch& block = *w.block->watch_state();
  return block.copies && at.space == Space::shared && block.copied.holds_any(at.offset, bytes);
}

// The marks are those of the asking, which say what asked and for whom.
void Watch::copies_arrive(Warp& w, std::span<const AsyncCopy> copies) {
  BlockWatch* const block = w.block->watch_state();
  if (block == nullptr || !block->copies) return;
  std::uint32_t asked = 0;
  for (const AsyncCopy& copy : copies) {
    const auto offset = static_cast<std::uint64_t>(copy.to - w.shared);
    block->copied.remove(offset, copy.bytes);
    block->sources.by_target.erase(offset);
    for (std::uint64_t a = offset; a < offset + copy.bytes && wanted_.races; a += 4) {
      const Mark mark = write_at(block->shared, a);
      const std::uint32_t thread = w.index << kWhoWarpShift | copy.lane;
      if (mark.time == 0 || (mark.who & kWhoThread) != thread) continue;
      if (mark.time != asked) {
        const std::uint32_t pc = block->shared.touch_of(mark).pc;
        if (!next_time()) return;
        asked = mark.time;
        block->shared.log(block->clocks.access(w.index, time_, pc));
      }
      put_write(block->shared, a, {time_, mark.who});
    }
  }
}

void Watch::bulk_copy_arrives(Warp& w, unsigned lane, std::uint64_t offset, std::uint64_t bytes) {
  BlockWatch* const block = w.block->watch_state();
  if (block == nullptr || !block->copies) return;
  block->copied.remove(offset, bytes);
  block->sources.by_target.erase(offset);
  const Mark mark = write_at(block->shared, offset);
  if (!wanted_.races || mark.time == 0) return;
  const std::uint32_t pc = block->shared.touch_of(mark).pc;
  if (!next_time()) return;
  // Asking is an operation that publishes what was before it, the arrival too.
  LoggedAccess arrival = block->clocks.access(w.index, time_, pc);
  --arrival.clock;
  block->shared.log(arrival);
  const std::uint32_t who = w.index << kWhoWarpShift | lane | kWhoBytes;
  for (std::uint64_t a = offset; a < offset + bytes; a += 4) {
    put_write(block->shared, a, {time_, who});
  }
}

void Watch::check_proxy(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  if (originals_[current_pc_].masked != &op_bulk_copy) return;
  BlockWatch& block = *w.block->watch_state();
  for (std::uint64_t a = at.offset & ~std::uint64_t{3}; a < at.offset + t.bytes; a += 4) {
    const Mark mark = write_at(block.shared, a);
    if (mark.time == 0) continue;
    const Touch writer = block.shared.touch_of(mark);
    const bool is_a_copys =
        launch_.text.instruction_at(writer.pc).find(".bulk") != std::string::npos;
    if (is_a_copys || block.clocks.is_seen_by_copies(writer, w.index)) continue;
    bool fresh = false;
    Finding& f = add({FindingKind::shared_race, current_pc_, t.lane, writer.pc}, w, fresh);
    if (!fresh) return;
    f.other_block = f.block;
    f.other_thread = thread_of(writer.warp, writer.lane);
    name_memory(f, t, {.space = at.space, .offset = a});
    f.message = "Race: an asynchronous copy reads " + element_text(f) + ", which thread " +
                text_of(f.other_thread) + " in block " + text_of(f.block) + " wrote at line " +
                std::to_string(f.other_where.line) +
                ", with no fence.proxy.async between the write and the copy";
    return;
  }
}

void Watch::tell_under_way(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  if (!wanted_.races && t.write) return;
  RaceShadow& shadow = w.block->watch_state()->shared;
  const ByteSet& copied = w.block->watch_state()->copied;
  std::uint64_t first = at.offset;
  while (!copied.holds_any(first, 1)) ++first;
  const Mark mark = write_at(shadow, first);
  const Touch copy = mark.time == 0 ? Touch{.pc = current_pc_} : shadow.touch_of(mark);
  const FindingKind kind =
      wanted_.races ? FindingKind::shared_race : FindingKind::uninitialised_shared;
  bool fresh = false;
  Finding& f = add({kind, current_pc_, t.lane, copy.pc}, w, fresh);
  if (!fresh) return;
  f.other_block = f.block;
  f.other_thread = thread_of(copy.warp, copy.lane);
  name_memory(f, t, at);
  const bool is_bulk = launch_.text.instruction_at(copy.pc).find(".bulk.") != std::string::npos;
  f.message = std::string(wanted_.races ? "Race: " : "Uninitialised: ") +
              (t.write ? "Write to " : "Read of ") + element_text(f) + " by thread " +
              text_of(f.thread) + " in block " + text_of(f.block) +
              " while an asynchronous copy to it is under way";
  if (mark.time != 0) {
    f.message += ", which thread " + text_of(f.other_thread) + " asked for at line " +
                 std::to_string(f.other_where.line);
  }
  f.message += is_bulk ? ": nobody has waited for its mbarrier yet"
                       : ": that thread has not waited for it yet (cp.async.wait_group after "
                         "cp.async.commit_group, __pipeline_wait_prior)";
}

}  // namespace assay::emulator
