#include "engine/emulator/shadow.h"

#include <algorithm>

namespace assay::emulator {

void GranulePage::forget(std::size_t i) {
  for (GranulePage* page = this; page != nullptr; page = page->beside.get()) {
    for (MarkColumn* const c : {&page->write, &page->atomic, &page->reads[0], &page->reads[1]}) {
      c->put(i, {});
    }
  }
}

void GranulePage::forget_bytes(std::size_t i, std::uint32_t bytes) {
  for (GranulePage* page = this; page != nullptr; page = page->beside.get()) {
    for (MarkColumn* const c : {&page->write, &page->atomic, &page->reads[0], &page->reads[1]}) {
      if (c->time[i] == 0) continue;
      c->who[i] &= ~bytes;
      if ((c->who[i] & kWhoBytes) == 0) c->time[i] = 0;
    }
  }
}

GranulePage* RaceShadow::find_page(std::uint64_t number) {
  Recent& recent = recent_[number % recent_.size()];
  const auto found = pages_.find(number);
  if (found != pages_.end()) {
    recent = {found->second.get(), number};
  } else if (pages_.size() + pages_beside_ >= kMaxPages) {
    full_ = true;
    return nullptr;
  } else {
    recent = {pages_.emplace(number, std::make_unique<GranulePage>()).first->second.get(), number};
  }
  return recent.page;
}

GranulePage* RaceShadow::page_beside(GranulePage& page) {
  if (page.beside) return page.beside.get();
  if (pages_.size() + pages_beside_ >= kMaxPages) {
    full_ = true;
    return nullptr;
  }
  ++pages_beside_;
  page.beside = std::make_unique<GranulePage>();
  return page.beside.get();
}

void RaceShadow::forget(std::uint64_t begin, std::uint64_t bytes) {
  for (std::uint64_t a = begin & ~std::uint64_t{3}; a < begin + bytes; a += 4) {
    const auto page = pages_.find(a / GranulePage::kBytes);
    if (page != pages_.end()) page->second->forget(a % GranulePage::kBytes / 4);
  }
}

// From the end: what is asked for is mostly young.
Touch RaceShadow::touch_of(const Mark& mark) const {
  const std::size_t n = accesses_.size();
  std::size_t step = 1;
  while (step < n && accesses_[n - step].time > mark.time) step *= 2;
  const auto from = accesses_.end() - static_cast<std::ptrdiff_t>(std::min(step, n));
  const auto at =
      std::lower_bound(from, accesses_.end(), mark.time,
                       [](const LoggedAccess& a, std::uint32_t time) { return a.time < time; });
  return {.time = mark.time,
          .block = at->block,
          .pc = at->pc,
          .clock = at->clock,
          .warp_syncs = at->warp_syncs,
          .warp = static_cast<std::uint8_t>((mark.who & kWhoThread) >> kWhoWarpShift),
          .lane = static_cast<std::uint8_t>(mark.who & kWhoLane),
          .bytes = static_cast<std::uint8_t>((mark.who & kWhoBytes) >> kWhoBytesShift),
          .atomic = (mark.who & kWhoAtomic) != 0,
          .is_volatile = (mark.who & kWhoVolatile) != 0,
          .displaced = mark.who >> kWhoDisplacedShift};
}

// Reads of the same bytes are together: else neighbours would push one another out.
void RaceShadow::note_read(GranulePage& page, std::size_t i, const Marking& now,
                           std::uint32_t block) {
  GranulePage* at = &page;
  while ((now.who & kWhoBytes) != kWhoBytes && at->reads[0].time[i] != 0 &&
         ((at->reads[0].who[i] ^ now.who) & kWhoBytes) != 0) {
    GranulePage* const beside = page_beside(*at);
    if (beside == nullptr) break;
    at = beside;
  }
  for (MarkColumn& c : at->reads) {
    const Mark m = c.at(i);
    const bool same = m.time != 0 && ((m.who ^ now.who) & kWhoReader) == 0 &&
                      (m.time >= now.since || touch_of(m).block == block);
    if (m.time != 0 && !same) continue;
    c.put(i, {now.time, now.who});
    return;
  }
  at->reads[0].put(i, at->reads[1].at(i));
  at->reads[1].put(i, {now.time, now.who});
}

GranulePage& RaceShadow::free_page(GranulePage& page, MarkColumn GranulePage::*column,
                                   std::size_t i) {
  GranulePage* at = &page;
  while ((at->*column).time[i] != 0) {
    GranulePage* const beside = page_beside(*at);
    if (beside == nullptr) break;
    at = beside;
  }
  return *at;
}

void RaceShadow::note_write(GranulePage& page, std::size_t i, const Marking& now) {
  const std::uint32_t bytes = now.who & kWhoBytes;
  if (bytes == kWhoBytes) {
    page.forget(i);
    page.write.put(i, {now.time, now.who});
    return;
  }
  page.forget_bytes(i, bytes);
  free_page(page, &GranulePage::write, i).write.put(i, {now.time, now.who});
}

void RaceShadow::note_atomic(GranulePage& page, std::size_t i, const Marking& now) {
  for (GranulePage* at = &page; at != nullptr; at = at->beside.get()) {
    at->atomic.who[i] &= ~(now.who & kWhoBytes);
    if ((at->atomic.who[i] & kWhoBytes) == 0) at->atomic.time[i] = 0;
  }
  free_page(page, &GranulePage::atomic, i).atomic.put(i, {now.time, now.who});
}

void RaceShadow::drop_forgotten() {
  std::vector<const GranulePage*> pages;
  const auto take = [&](const GranulePage* page) {
    for (; page != nullptr; page = page->beside.get()) pages.push_back(page);
  };
  for (const auto& [number, page] : pages_) take(page.get());
  for (const auto& page : dense_) take(page.get());
  std::vector<std::uint8_t> used(accesses_.size(), 0);
  std::size_t marks = 0;
  for (const GranulePage* const page : pages) {
    for (const MarkColumn* const c :
         {&page->write, &page->atomic, &page->reads[0], &page->reads[1]}) {
      std::uint32_t last = 0;  // neighbours were mostly marked by one access
      for (const std::uint32_t time : c->time) {
        if (time == 0 || time == last) continue;
        last = time;
        ++marks;
        const auto at =
            std::lower_bound(accesses_.begin(), accesses_.end(), time,
                             [](const LoggedAccess& a, std::uint32_t t) { return a.time < t; });
        used[static_cast<std::size_t>(at - accesses_.begin())] = 1;
      }
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (used[i] != 0) accesses_[kept++] = accesses_[i];
  }
  accesses_.resize(kept);
  // The next time pays only when there is much to gain.
  log_limit_ = std::max(kLogLeast, kept + kept / 2 + marks / 4);
}

}  // namespace assay::emulator
