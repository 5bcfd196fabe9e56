#include "engine/node/stage_clock.h"

namespace assay::node {

// Half of what the journal takes.
constexpr std::size_t kMaxBodyBytes = 512U << 10;
constexpr std::size_t kMaxSummaryBytes = 4000;

std::optional<Ended> StageClock::tell(std::optional<Ended> ended) {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  if (ended) {
    body["verdict"] = job::name(ended->verdict);
    body["summary"] = ended->summary;
    body["detail"] = ended->detail;
  }
  if (body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size() > kMaxBodyBytes) {
    // Whatever let it grow this large, the stage is told, with what decides.
    body = {{"too_large", true}};
    if (ended) body["verdict"] = job::name(ended->verdict);
    if (ended) body["summary"] = ended->summary.substr(0, kMaxSummaryBytes);
  }
  const auto status = ended ? job::StageStatus::failed : job::StageStatus::passed;
  reporter_.tell(
      {.record = {.name = name_,
                  .status = status,
                  .elapsed_ms = std::chrono::duration<double, std::milli>(elapsed).count(),
                  .body = std::move(body)},
       .artifacts = std::move(artifacts),
       .is_last = is_last});
  return ended;
}

}  // namespace assay::node
