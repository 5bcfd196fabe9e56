// What the timed runs of a kernel left, by digests (runner/run_digests.h): a run that began with
// the contents of one that the referee found right, and left the same bytes, was right as well. So
// of a kernel that gives the same bits each time not some of its runs are known, but all.
//
// A value of the job's timing; the job's thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/node/kernel_claim.h"
#include "engine/node/kernel_session.h"

namespace assay::node {

class AlikeRuns {
 public:
  // A turn without digests says nothing. `first`: the runs before it do not count. `examined`:
  // those of its runs that were to be kept were found right. `counts`: false for runs that were
  // taken only to be looked at.
  void note(const TurnOrder& order, const Turn& turn, std::size_t first, bool examined,
            bool counts = true);

  struct Count {
    std::size_t runs = 0;       // with a digest
    std::size_t alike = 0;      // left what one left that was found right, the examined among them
    std::size_t idle = 0;       // left what they began with, where the right ones did not
    std::size_t otherwise = 0;  // left something else, where all that were looked at left the same
    double saved_ns = 0;        // by those beside the right ones of the same contents
    double took_ns = 0;         // all of them
    std::size_t unseen = 0;  // left what they began with, on contents of which none was looked at
    // Every one of them is known to be right.
    [[nodiscard]] bool is_whole() const { return runs > 0 && alike == runs; }
    // Some may have done less: a kernel that adds in the order in which its blocks come leaves
    // other bits now and then, but is no quicker in those runs.
    [[nodiscard]] bool is_doubtful() const {
      constexpr double kLeastSaved = 0.005;  // of all, as the least effect of a comparison
      return unseen > 0 || (otherwise > 0 && saved_ns > kLeastSaved * took_ns);
    }
  };
  [[nodiscard]] Count count() const;
  // Digests of another process are others: what was noted so far is counted by itself.
  void begin_anew();

 private:
  struct Left {
    std::vector<double> took_ns{};  // of the runs that count
    bool is_right = false;
  };
  struct Content {
    std::map<std::uint64_t, Left> left{};  // by digest
    std::uint64_t begun_with = 0;
  };
  // All that were looked at gave the same bits, and others too: those that gave others stand out.
  [[nodiscard]] static bool repeats(const Content& content);
  static void add(Count& count, const Content& content);
  std::map<std::uint32_t, Content> contents_{};
  Count before_{};
};

}  // namespace assay::node
