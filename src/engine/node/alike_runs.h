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
    // Every one of them is known to be right.
    [[nodiscard]] bool is_whole() const { return runs > 0 && alike == runs; }
  };
  [[nodiscard]] Count count() const;

 private:
  struct Left {
    std::size_t runs = 0;
    bool is_right = false;
  };
  struct Content {
    std::map<std::uint64_t, Left> left{};  // by digest
    std::uint64_t begun_with = 0;
  };
  // All that were looked at gave the same bits, and others too: those that gave others stand out.
  [[nodiscard]] static bool repeats(const Content& content);
  std::map<std::uint32_t, Content> contents_{};
};

}  // namespace assay::node
