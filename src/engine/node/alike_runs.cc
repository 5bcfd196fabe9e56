#include "engine/node/alike_runs.h"

#include <algorithm>

namespace assay::node {

void AlikeRuns::note(const TurnOrder& order, const Turn& turn, std::size_t first, bool examined,
                     bool counts) {
  for (std::size_t i = first; i < std::min(order.runs.size(), turn.digests.size()); ++i) {
    const RunOrder& run = order.runs[i];
    if (run.content >= turn.begun_with.size()) continue;
    Content& content = contents_[run.content];
    content.begun_with = turn.begun_with[run.content];
    Left& left = content.left[turn.digests[i]];
    left.runs += counts ? 1 : 0;
    left.is_right = left.is_right || (examined && run.keep);
  }
}

// An examined run is one of those that left its digest, if it counts. A kernel that was right with
// one result and with another, as where sums are added in the order in which blocks come, may have
// a third.
bool AlikeRuns::repeats(const Content& content) {
  std::size_t right = 0;
  std::size_t most = 0;
  for (const auto& [digest, left] : content.left) {
    right += left.is_right ? 1 : 0;
    if (left.is_right) most = std::max(most, left.runs);
  }
  return right == 1 && most > 1;
}

AlikeRuns::Count AlikeRuns::count() const {
  Count count;
  for (const auto& [number, content] : contents_) {
    const bool is_known = std::any_of(content.left.begin(), content.left.end(),
                                      [](const auto& one) { return one.second.is_right; });
    const bool stands_out = repeats(content);
    for (const auto& [digest, left] : content.left) {
      count.runs += left.runs;
      if (left.is_right) {
        count.alike += left.runs;
      } else if (is_known && digest == content.begun_with) {
        count.idle += left.runs;
      } else if (stands_out) {
        count.otherwise += left.runs;
      }
    }
  }
  return count;
}

}  // namespace assay::node
