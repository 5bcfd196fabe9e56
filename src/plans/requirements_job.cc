#include "plans/requirements_job.h"

#include "plans/requirements.h"

namespace assay::plans {

job::Kind requirements_kind() {
  return {.name = "requirements",
          .stages = {{.name = "received", .during = job::State::submitted},
                     {.name = "concluded", .during = job::State::validating}},
          .verdicts = {job::Verdict::passed, job::Verdict::unsupported, job::Verdict::cancelled,
                       job::Verdict::engine_fault}};
}

node::Conclusion run_requirements_job(const node::Order& order, node::Reporter& reporter,
                                      const std::stop_token& stop, const Workshop& workshop) {
  const RequirementsAnswer answer = check_requirements(
      order.request.at("requires"), workshop.capabilities(), workshop.steps(), "", stop);
  Stages(reporter).tell("concluded", job::StageStatus::passed, nlohmann::json::object());
  return {.verdict = answer.supported ? job::Verdict::passed : job::Verdict::unsupported,
          .body = {
              {"summary", answer.supported ? "Everything that is needed is here." : answer.summary},
              {"requirements", to_json(answer)}}};
}

}  // namespace assay::plans
