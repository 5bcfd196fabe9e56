#include "engine/runner/plan_frame.h"

#include <stdexcept>
#include <string>

namespace assay::runner {
namespace {

using nlohmann::json;

TimingView view_of(const std::string& name) {
  if (name == "cold") return TimingView::cold;
  if (name == "warm") return TimingView::warm;
  if (name == "graph") return TimingView::graph;
  throw std::runtime_error("unknown view '" + name + "'");
}

}  // namespace

TimingPlan plan_of(const json& turn, const Staged& staged) {
  TimingPlan plan{.view = view_of(turn.at("view").get<std::string>()),
                  .warmups = turn.at("warmups"),
                  .tell_state = turn.at("tell_state"),
                  .tell_neighbours = turn.at("tell_neighbours"),
                  .ramp_below_mhz = turn.at("ramp_below_mhz"),
                  .precise = turn.at("precise"),
                  .renews_each = turn.at("renews_each"),
                  .typical_ns = turn.at("typical_ns"),
                  .fresh = turn.at("fresh_module"),
                  .digests = turn.at("digests")};
  for (const json& run : turn.at("runs")) {
    plan.runs.push_back(
        {.place = run.at(0), .content = run.at(1), .keep = run.at(2), .as_left = run.at(3)});
    if (plan.runs.back().place >= staged.places || plan.runs.back().content >= staged.contents) {
      throw std::runtime_error("a run of an arena that was not staged");
    }
  }
  return plan;
}

}  // namespace assay::runner
