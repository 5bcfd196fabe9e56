// What happened before what between the blocks of a grid: a warp publishes what a fence has made
// visible to the device by writing a word of global memory that others then read, by atomics or
// volatile accesses. Who read another word learned nothing. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace assay::emulator {

struct Touch;

inline constexpr unsigned kMaxWarps = 32;
using Clocks = std::array<std::uint32_t, kMaxWarps>;  // of a block's warps

// What a warp has learned of other blocks: of each word, how much of what was published there.
class Learned {
 public:
  struct Word {
    std::uint64_t address = 0;
    std::uint32_t entries = 0;
    bool operator==(const Word&) const = default;
  };
  bool operator==(const Learned&) const = default;
  void add(Word word);
  void add(const Learned& other);
  void clear() { *this = {}; }
  [[nodiscard]] bool empty() const { return words_.empty() && !everything_; }
  // There were too many words to keep them apart.
  [[nodiscard]] bool is_everything() const { return everything_; }
  [[nodiscard]] const std::vector<Word>& words() const { return words_; }

 private:
  static constexpr std::size_t kMostWords = 512;
  std::vector<Word> words_{};
  bool everything_ = false;
};

// Of one warp, as it is told to others.
struct Published {
  std::uint32_t block = 0;
  Clocks visible{};
  Learned learned{};
};

class GridClocks {
 public:
  void publish(std::uint64_t address, const Published& what);
  // What has been published there until now.
  [[nodiscard]] Learned::Word read(std::uint64_t address) const;
  // More was published than is kept: everything counts as ordered from then on.
  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] bool ordered(const Touch& earlier, const Learned& learned) const;

 private:
  static constexpr std::size_t kMostEntries = 1U << 18;
  struct Entry {
    Clocks visible{};
    Learned learned{};
    bool operator==(const Entry&) const = default;
  };
  struct Word {
    std::vector<Entry> entries{};
    std::vector<std::uint32_t> linked{};  // those whose writer had learned of other words
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_block{};
  };
  [[nodiscard]] static bool tells(const Word& word, std::uint32_t entries, const Touch& earlier);
  std::unordered_map<std::uint64_t, Word> words_{};
  std::size_t entries_ = 0;
  bool is_full_ = false;
};

}  // namespace assay::emulator
