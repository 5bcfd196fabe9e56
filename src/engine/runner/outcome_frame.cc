#include "engine/runner/outcome_frame.h"

#include "engine/inspection/inspection.h"

namespace assay::runner {

using nlohmann::json;

namespace {

// What is not known is left out.
json describe(const GpuState& state) {
  json out = {{"held_down", state.held_down}};
  if (state.sm_mhz) out["sm_mhz"] = *state.sm_mhz;
  if (state.memory_mhz) out["memory_mhz"] = *state.memory_mhz;
  if (state.temperature_c) out["temperature_c"] = *state.temperature_c;
  if (state.power_w) out["power_w"] = *state.power_w;
  if (state.processes) out["processes"] = *state.processes;
  if (state.is_set_lower) out["set_lower"] = true;
  if (!state.pids.empty()) out["pids"] = state.pids;
  for (const auto& one : state.working) {
    out["working"].push_back({{"pid", one.pid}, {"sm_pct", one.sm_pct}});
  }
  if (state.busy_pct) out["busy_pct"] = *state.busy_pct;
  return out;
}

json describe(const Wall& wall) {
  json out = {
      {"launches", wall.launches}, {"wall_ns", wall.wall_ns}, {"events_ns", wall.events_ns}};
  if (wall.hidden_ns) out["hidden_ns"] = *wall.hidden_ns;
  return out;
}

}  // namespace

json outcome_frame(const emulator::Outcome& outcome) {
  json reply = {{"type", "ran"},
                {"ending", emulator::name(outcome.ending)},
                {"message", outcome.message},
                {"counters",
                 {{"warp_instructions", outcome.counters.warp_instructions},
                  {"thread_instructions", outcome.counters.thread_instructions},
                  {"blocks", outcome.counters.blocks}}},
                {"printf", outcome.printf_output},
                {"printf_truncated", outcome.printf_truncated},
                {"elapsed_ns", outcome.wall.count()}};
  if (outcome.ending != emulator::Ending::completed)
    reply["fault"] = inspection::describe_fault(outcome.fault);
  if (outcome.ending != emulator::Ending::completed && outcome.ending != emulator::Ending::faulted)
    reply["fault"].erase("kind");
  if (outcome.grid_blocks > 1) {
    reply["grid"] = {{"blocks", outcome.grid_blocks},
                     {"ended", outcome.counters.blocks},
                     {"was_progressing", outcome.was_progressing},
                     {"times_as_long", outcome.times_as_long}};
  }
  return reply;
}

json turn_frame(const Timed& timed, const TimingPlan& plan) {
  json told = outcome_frame(timed.outcome);
  told["samples_ns"] = timed.samples_ns;
  if (!timed.once_ns.empty()) told["once_ns"] = timed.once_ns;
  told["launches"] = timed.launches;
  told["clock_mhz"] = timed.clock_mhz ? json(*timed.clock_mhz) : json(nullptr);
  told["event_overhead_ns"] = timed.event_overhead_ns;
  if (plan.tell_state) told["state"] = describe(timed.state);
  if (timed.wall) told["wall"] = describe(*timed.wall);
  if (timed.ramp) {
    told["ramp"] = {{"from_mhz", timed.ramp->from_mhz}, {"ms", timed.ramp->ms}};
  }
  told["note"] = timed.note;
  if (!timed.digests.empty()) {
    told["digests"] = timed.digests;
    told["begun_with"] = timed.begun_with;
  }
  return told;
}

}  // namespace assay::runner
