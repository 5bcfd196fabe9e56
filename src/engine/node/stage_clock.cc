#include "engine/node/stage_clock.h"

namespace assay::node {

std::optional<Ended> StageClock::tell(std::optional<Ended> ended) {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  if (ended) {
    body["verdict"] = job::name(ended->verdict);
    body["summary"] = ended->summary;
    body["detail"] = ended->detail;
  }
  const auto status = ended ? job::StageStatus::failed : job::StageStatus::passed;
  reporter_.stage(
      {.record = {.name = name_,
                  .status = status,
                  .elapsed_ms = std::chrono::duration<double, std::milli>(elapsed).count(),
                  .body = std::move(body)},
       .artifacts = std::move(artifacts)});
  return ended;
}

}  // namespace assay::node
