// What a watch makes of copies that run beside the threads: until they have arrived their target is
// nobody's, not even of the thread that asked for them.
#include <algorithm>

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

void Watch::copy_begins(Warp& w, std::uint64_t offset, std::uint64_t bytes) {
  BlockWatch& block = *w.block->watch_state();
  if (!block.copies) block.copied = ByteSet(launch_.shared_bytes);
  block.copies = true;
  block.copied.add(offset, bytes);
}

bool Watch::is_at_mbarrier() const {
  const Handler h = originals_[current_pc_].masked;
  return h == &op_mbarrier || h == &op_mbarrier_test || h == &op_bulk_copy;
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
