// What is remembered of each four bytes of memory: who wrote last, who changed it by an atomic
// since, two who read since. Bytes of them that are accessed by themselves have their own. A mark
// says when and which thread; what else there is to say of an access stands once, in a log by time.
// Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/emulator/ordering.h"

namespace assay::emulator {

// Who accessed a granule: lane (5 bits), warp (5), which of its bytes (4), and how.
inline constexpr std::uint32_t kWhoLane = 0x1F;
inline constexpr std::uint32_t kWhoThread = 0x3FF;
inline constexpr unsigned kWhoWarpShift = 5;
inline constexpr unsigned kWhoBytesShift = 10;
inline constexpr std::uint32_t kWhoBytes = 0xFU << kWhoBytesShift;
inline constexpr std::uint32_t kWhoReader = 0x1FU << kWhoWarpShift | kWhoBytes;
inline constexpr std::uint32_t kWhoAtomic = 1U << 14;
inline constexpr std::uint32_t kWhoVolatile = 1U << 15;
// The rest, of a write: one more than the pc of an earlier write of the same thread, of another
// value and with nothing in between that orders the two for anybody else. Others that write what
// stands there now may come before that one.
inline constexpr unsigned kWhoDisplacedShift = 16;
inline constexpr std::uint32_t kMostDisplaced = 0xFFFF;

// An access that leaves marks.
struct Marking {
  std::uint32_t time = 0;
  std::uint32_t who = 0;
  std::uint32_t since = 1;    // from this time on all accesses are this block's
  std::uint32_t settled = 0;  // those of this block until then are ordered before this one
  bool write = false;
  bool for_others = false;  // stands for other threads too: being a thread's own is not enough
};

struct Mark {
  std::uint32_t time = 0;  // 0: none
  std::uint32_t who = 0;
};

struct MarkColumn {
  static constexpr std::size_t kGranules = 256;
  alignas(32) std::array<std::uint32_t, kGranules> time{};
  alignas(32) std::array<std::uint32_t, kGranules> who{};
  [[nodiscard]] Mark at(std::size_t i) const { return {time[i], who[i]}; }
  void put(std::size_t i, Mark m) {
    time[i] = m.time;
    who[i] = m.who;
  }
};

struct GranulePage {
  static constexpr std::uint64_t kBytes = 4 * MarkColumn::kGranules;
  MarkColumn write{};
  MarkColumn atomic{};
  std::array<MarkColumn, 2> reads{};
  // Where an access to some bytes of a granule would displace the mark of others, it goes here: of
  // the writes of a granule, and of its atomics, no two have a byte in common.
  std::unique_ptr<GranulePage> beside{};
  void forget(std::size_t i);  // beside it, too
  // The same for some of its bytes, bits of kWhoBytes.
  void forget_bytes(std::size_t i, std::uint32_t bytes);
};

// Granules of a sparse range of addresses, in pages made when first touched, and the accesses that
// their marks are of.
class RaceShadow {
 public:
  // Addresses below `dense_bytes` are found without a search.
  explicit RaceShadow(std::uint64_t dense_bytes = 0)
      : dense_((dense_bytes + GranulePage::kBytes - 1) / GranulePage::kBytes) {}
  // nullptr: beyond what may be remembered.
  [[nodiscard]] GranulePage* page_at(std::uint64_t address) {
    const std::uint64_t number = address / GranulePage::kBytes;
    if (number < dense_.size()) {
      if (!dense_[number]) dense_[number] = std::make_unique<GranulePage>();
      return dense_[number].get();
    }
    const Recent& recent = recent_[number % recent_.size()];
    return recent.page != nullptr && recent.number == number ? recent.page : find_page(number);
  }
  [[nodiscard]] bool is_full() const { return full_; }
  // Whatever happened to these bytes is of no interest any more.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  // An access that is going to leave marks; once per time, times rise.
  void log(const LoggedAccess& access) {
    if (accesses_.empty() || accesses_.back().time != access.time) {
      if (accesses_.size() >= log_limit_) drop_forgotten();
      accesses_.push_back(access);
    }
  }
  [[nodiscard]] Touch touch_of(const Mark& mark) const;
  // Remembers a read: of several by one warp the last, of several warps the last two.
  void note_read(GranulePage& page, std::size_t i, const Marking& now, std::uint32_t block);
  // A write, after which nothing earlier is of interest.
  void note_write(GranulePage& page, std::size_t i, const Marking& now);
  void note_atomic(GranulePage& page, std::size_t i, const Marking& now);
  [[nodiscard]] std::size_t logged() const { return accesses_.size(); }

 private:
  static constexpr std::size_t kMaxPages = 12'000;  // about 100 MB
  static constexpr std::size_t kLogLeast = 1U << 20;
  GranulePage* find_page(std::uint64_t number);
  // nullptr: beyond what may be remembered.
  GranulePage* page_beside(GranulePage& page);
  // The page of a column where the granule has no mark, or the last one there may be.
  GranulePage& free_page(GranulePage& page, MarkColumn GranulePage::*column, std::size_t i);
  // Leaves out of the log what no mark refers to any more.
  void drop_forgotten();

  std::vector<std::unique_ptr<GranulePage>> dense_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GranulePage>> pages_{};
  // Pages found last: a kernel goes back and forth between a few.
  struct Recent {
    GranulePage* page = nullptr;
    std::uint64_t number = 0;
  };
  std::array<Recent, 64> recent_{};
  std::vector<LoggedAccess> accesses_{};  // by time
  std::size_t log_limit_ = kLogLeast;
  std::size_t pages_beside_ = 0;
  bool full_ = false;
};

}  // namespace assay::emulator
