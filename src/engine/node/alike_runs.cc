#include "engine/node/alike_runs.h"

#include <algorithm>
#include <numeric>

#include "engine/node/median.h"

namespace assay::node {

void AlikeRuns::note(const TurnOrder& order, const Turn& turn, std::size_t first, bool examined,
                     bool counts) {
  for (std::size_t i = first; i < std::min(order.runs.size(), turn.digests.size()); ++i) {
    const RunOrder& run = order.runs[i];
    if (run.content >= turn.begun_with.size()) continue;
    Content& content = contents_[run.content];
    content.begun_with = turn.begun_with[run.content];
    Left& left = content.left[turn.digests[i]];
    if (counts) left.took_ns.push_back(turn.samples_ns.at(i));
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
    if (left.is_right) most = std::max(most, left.took_ns.size());
  }
  return right == 1 && most > 1;
}

void AlikeRuns::add(Count& count, const Content& content) {
  std::vector<double> right_ns;
  bool is_known = false;
  for (const auto& [digest, left] : content.left) {
    is_known = is_known || left.is_right;
    if (left.is_right) {
      right_ns.insert(right_ns.end(), left.took_ns.begin(), left.took_ns.end());
    }
  }
  const bool stands_out = repeats(content);
  const double usual_ns = median(right_ns);
  for (const auto& [digest, left] : content.left) {
    const std::size_t runs = left.took_ns.size();
    const double took_ns = std::accumulate(left.took_ns.begin(), left.took_ns.end(), 0.0);
    count.runs += runs;
    count.took_ns += took_ns;
    const bool is_idle = digest == content.begun_with;
    if (left.is_right) {
      count.alike += runs;
    } else if (is_idle) {
      (is_known ? count.idle : count.unseen) += runs;
    } else if (stands_out) {
      count.otherwise += runs;
      count.saved_ns += usual_ns * static_cast<double>(runs) - took_ns;
    }
  }
}

// Of contents that nobody looked at it is not known whether they are right as they are, unless
// nobody was seen to change any.
AlikeRuns::Count AlikeRuns::count() const {
  Count count = before_;
  for (const auto& [number, content] : contents_) add(count, content);
  const auto leaves_as_it_is = [](const auto& one) {
    const auto found = one.second.left.find(one.second.begun_with);
    return found != one.second.left.end() && found->second.is_right;
  };
  if (std::any_of(contents_.begin(), contents_.end(), leaves_as_it_is)) count.unseen = 0;
  return count;
}

void AlikeRuns::begin_anew() {
  before_ = count();
  contents_.clear();
}

}  // namespace assay::node
