#include "cli/plan_kinds.h"

#include <memory>
#include <utility>

#include "engine/node/sweep_job.h"
#include "plans/commits/commit_job.h"
#include "plans/disassembly_job.h"
#include "plans/generators/generator_job.h"
#include "plans/optest/plan_job.h"
#include "plans/requirements_job.h"
#include "plans/scenarios/scenario_job.h"
#include "plans/workshop.h"

namespace assay::cli {
namespace {

using nlohmann::json;

// Of a kernel that is judged inside another job: its stages go into that job's own.
class CollectingReporter final : public node::Reporter {
 public:
  void tell(node::StageEvent event) override {
    stages_.push_back({{"name", event.record.name},
                       {"status", job::name(event.record.status)},
                       {"body", std::move(event.record.body)}});
  }
  void settle() override {}
  [[nodiscard]] json take() { return std::move(stages_); }

 private:
  json stages_ = json::array();
};

using StepJob = node::Conclusion (*)(const node::Order& order, node::Reporter& reporter,
                                     const std::stop_token& stop, const plans::Workshop& workshop);

node::JobRunner runner_of(StepJob job, std::shared_ptr<const plans::Workshop> workshop) {
  return [job, workshop = std::move(workshop)](const node::Order& order, node::Reporter& reporter,
                                               const std::stop_token& stop) {
    return job(order, reporter, stop, *workshop);
  };
}

// A part of another job, for the same client: his runners may serve one part after the other.
node::KernelJudge kernel_judge(const node::JobRunner& judge, const std::string& client) {
  return [judge, client](const json& request, const std::stop_token& stop) {
    CollectingReporter reporter;
    node::Conclusion conclusion = judge(
        {.job_id = "", .kind = "kernel", .request = request, .client = client}, reporter, stop);
    conclusion.body["stages"] = reporter.take();
    return conclusion;
  };
}

}  // namespace

void add_plan_kinds(node::NodeConfig& config, std::function<const plans::StepRunner&()> steps,
                    const std::filesystem::path& disassembler) {
  const node::JobRunner judge = config.kinds.at("kernel");
  auto workshop = std::make_shared<plans::Workshop>();
  workshop->steps = std::move(steps);
  workshop->capabilities = config.capabilities;
  workshop->kernels = kernel_judge(judge, {});
  config.kinds["sweep"] = [judge](const node::Order& order, node::Reporter& reporter,
                                  const std::stop_token& stop) {
    return node::SweepJob(order.request, kernel_judge(judge, order.client), reporter, stop).run();
  };
  config.kinds["plan"] = runner_of(optest::run_plan_job, workshop);
  config.kinds["requirements"] = runner_of(plans::run_requirements_job, workshop);
  config.kinds["commits"] = runner_of(commits::run_commits_job, workshop);
  config.kinds["scenario"] = runner_of(scenarios::run_scenario_job, workshop);
  config.kinds["generator"] = runner_of(generators::run_generator_job, workshop);
  config.kinds["disassembly"] = [workshop, disassembler](const node::Order& order,
                                                         node::Reporter& reporter,
                                                         const std::stop_token& stop) {
    return plans::run_disassembly_job(order, reporter, stop, *workshop, disassembler);
  };
}

std::vector<job::Kind> job_kinds() {
  return {job::kernel_kind(),         node::sweep_kind(),           optest::plan_kind(),
          plans::requirements_kind(), generators::generator_kind(), commits::commits_kind(),
          scenarios::scenario_kind()};
}

}  // namespace assay::cli
