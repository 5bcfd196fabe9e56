#include "engine/emulator/grid_clocks.h"

#include <algorithm>

#include "engine/emulator/ordering.h"

namespace assay::emulator {

void Learned::add(Word word) {
  if (word.entries == 0 || everything_) return;
  const auto at = std::find_if(words_.begin(), words_.end(),
                               [&](const Word& w) { return w.address == word.address; });
  if (at != words_.end()) {
    at->entries = std::max(at->entries, word.entries);
  } else if (words_.size() < kMostWords) {
    words_.push_back(word);
  } else {
    everything_ = true;
    words_.clear();
  }
}

void Learned::add(const Learned& other) {
  if (other.everything_) {
    everything_ = true;
    words_.clear();
  }
  for (const Word& w : other.words_) add(w);
}

void GridClocks::publish(std::uint64_t address, const Published& what) {
  if (is_full_) return;
  Word& word = words_[address];
  std::vector<std::uint32_t>& own = word.of_block[what.block];
  Entry entry{.visible = what.visible};
  // What stands before it here is learned from this word anyway.
  for (const Learned::Word& w : what.learned.words()) {
    if (w.address != address) entry.learned.add(w);
  }
  if (what.learned.is_everything()) entry.learned.add(what.learned);
  if (!own.empty() && word.entries[own.back()] == entry) return;
  is_full_ = ++entries_ > kMostEntries;
  const auto index = static_cast<std::uint32_t>(word.entries.size());
  own.push_back(index);
  if (!entry.learned.empty()) word.linked.push_back(index);
  word.entries.push_back(std::move(entry));
}

Learned::Word GridClocks::read(std::uint64_t address) const {
  const auto at = words_.find(address);
  if (at == words_.end()) return {};
  return {.address = address, .entries = static_cast<std::uint32_t>(at->second.entries.size())};
}

bool GridClocks::tells(const Word& word, std::uint32_t entries, const Touch& earlier) {
  const auto own = word.of_block.find(earlier.block);
  if (own == word.of_block.end()) return false;
  return std::any_of(own->second.begin(), own->second.end(), [&](std::uint32_t i) {
    return i < entries && word.entries[i].visible.at(earlier.warp) >= earlier.clock;
  });
}

// Along all that was learned, and what those had learned who published it; a search that takes too
// long finds for the program.
bool GridClocks::ordered(const Touch& earlier, const Learned& learned) const {
  if (is_full_) return true;
  constexpr std::size_t kMostVisits = 1U << 14;
  std::unordered_map<std::uint64_t, std::uint32_t> visited;
  std::vector<Learned> open{learned};
  std::size_t visits = 0;
  while (!open.empty()) {
    const Learned next = std::move(open.back());
    open.pop_back();
    if (next.is_everything()) return true;
    for (const Learned::Word& w : next.words()) {
      if (++visits > kMostVisits) return true;
      std::uint32_t& known = visited[w.address];
      if (known >= w.entries) continue;
      const Word& word = words_.at(w.address);
      if (tells(word, w.entries, earlier)) return true;
      const auto from = std::lower_bound(word.linked.begin(), word.linked.end(), known);
      const auto to = std::lower_bound(from, word.linked.end(), w.entries);
      for (auto i = from; i != to; ++i) open.push_back(word.entries[*i].learned);
      known = w.entries;
    }
  }
  return false;
}

}  // namespace assay::emulator
