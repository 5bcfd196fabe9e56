// Of GpuTiming: timed runs that nobody looked at, held against those that were found right.
#include "engine/node/gpu_timing.h"

namespace assay::node {

using nlohmann::json;

// What is told of a kernel that gives other bits each time rests on the runs that were looked at.
GpuTiming::Step GpuTiming::judge_alike(json& body) {
  const AlikeRuns::Count left = alike_.count();
  body["digests"] = nullptr;
  if (left.runs > 0) body["digests"] = {{"runs", left.runs}, {"alike", left.alike}};
  if (left.idle > 0) {
    const json told{{"check", "did_nothing"}, {"runs", left.idle}, {"of", left.runs}};
    return judge_(0, {{"outputs", json::array()}, {"findings", json::array({told})}});
  }
  if (!left.is_doubtful()) return std::nullopt;
  return leave_unasked(
      "outputs_vary",
      std::to_string(left.otherwise + left.unseen) + " of " + std::to_string(left.runs) +
          (left.unseen > 0 ? " left their tensors as they were, and none of those was looked at"
                           : " left other bits than those that were looked at, and were quicker"));
}

}  // namespace assay::node
