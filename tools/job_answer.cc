#include "tools/job_answer.h"

#include "tools/baseline.h"
#include "tools/refusal.h"
#include "tools/report.h"
#include "tools/steps_report.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;
using Clock = std::chrono::steady_clock;

constexpr double kStages = 7;  // received … concluded
constexpr double kDefaultWaitS = 45;
// What ends within this time is answered at once, also to a client that could hold a task.
constexpr std::chrono::milliseconds kTaskAfter{1'000};

Clock::time_point deadline(const Json& arguments, double default_s) {
  const double wait_s = arguments.value("wait_s", default_s);
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait_s));
}

Detail detail_of(const Json& arguments) {
  return arguments.value("detail", "short") == "full" ? Detail::full : Detail::brief;
}

// The job named as baseline may be gone from the journal by now.
void add_change(OrderedJson& structured, const JobRecord& record, Jobs& jobs,
                const CallContext& context) {
  const auto options = record.request.find("options");
  if (options == record.request.end() || !options->contains("baseline") ||
      !options->at("baseline").is_string() || !job::is_final(record.state)) {
    return;
  }
  const auto then = jobs.find(options->at("baseline").get<std::string>(), context.principal);
  if (then) structured["since_baseline"] = change_since(*then, record);
}

ToolResult answer(const JobRecord& record, Detail detail, Jobs& jobs, const CallContext& context) {
  ToolResult result{.structured = report(record, detail)};
  add_change(result.structured, record, jobs, context);
  result.text = report_text(result.structured);
  result.is_error = is_error(record);
  return result;
}

void tell(const JobRecord& record, const CallContext& context) {
  const auto count = static_cast<double>(record.stages.size());
  if (is_of_steps(record)) {
    return context.progress(count, steps_total(record),
                            "job " + record.id + ": " + steps_progress(record));
  }
  std::string message = "job " + record.id + ": ";
  message += record.stages.empty() ? "submitted" : record.stages.back().name;
  if (!record.stages.empty() && record.stages.back().status == job::StageStatus::failed) {
    message += " (failed)";
  }
  context.progress(count, kStages, message);
}

}  // namespace

ToolResult answer_for_new_job(Jobs& jobs, const std::string& job_id, const Json& arguments,
                              CallContext& context) {
  // Told at once, so that a client which loses the answer can still ask for the job.
  const auto end = deadline(arguments, kDefaultWaitS);
  const auto record =
      jobs.wait(job_id, context.principal,
                context.may_become_task ? std::min(end, Clock::now() + kTaskAfter) : end,
                context.stop, [&](const JobRecord& seen) { tell(seen, context); });
  if (context.stop.stop_requested()) {
    [[maybe_unused]] const auto cancelled = jobs.cancel(job_id, context.principal);
    return {.structured = {{"job_id", job_id}, {"status", "success"}, {"state", "cancelled"}}};
  }
  if (!record) return server_fault("The job has vanished from the journal.", true);
  if (context.may_become_task && !job::is_final(record->state))
    return {.task = task_handle(*record, jobs.kept_for())};
  return answer(*record, detail_of(arguments), jobs, context);
}

std::string run_elsewhere(const std::string& job_id) {
  return "Job " + job_id +
         " is run by another server on this state directory; only that server can cancel it.";
}

mcp::TaskHandle task_handle(const JobRecord& record, std::optional<std::chrono::seconds> kept_for) {
  mcp::TaskHandle handle{.id = record.id,
                         .created_at = iso_time(record.created_ns),
                         .updated_at = iso_time(record.updated_ns),
                         .message = std::string(job::name(record.state))};
  // From its creation on; a job that goes on lives longer than it can say now.
  if (kept_for) {
    const std::chrono::nanoseconds lived(record.updated_ns - record.created_ns);
    handle.ttl_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(lived + *kept_for).count();
  }
  if (record.state == job::State::cancelled)
    handle.status = mcp::TaskStatus::cancelled;
  else if (job::is_final(record.state))
    handle.status = mcp::TaskStatus::completed;
  return handle;
}

mcp::Tasks job_tasks(Jobs& jobs) {
  return {.get = [&jobs](const std::string& id,
                         const CallContext& context) -> std::optional<mcp::TaskState> {
            const auto record = jobs.find(id, context.principal);
            if (!record) return {};
            mcp::TaskState task{.handle = task_handle(*record, jobs.kept_for())};
            if (job::is_final(record->state))
              task.result = answer(*record, Detail::brief, jobs, context);
            return task;
          },
          .cancel =
              [&jobs](const std::string& id, const CallContext& context) {
                const auto cancelled = jobs.cancel(id, context.principal);
                if (cancelled == Jobs::Cancelled::not_ours)
                  throw mcp::BadRequest(run_elsewhere(id));
                return cancelled != Jobs::Cancelled::not_found;
              },
          // A job asks its client nothing, so there is nothing that an answer could change.
          .update =
              [&jobs](const std::string& id, const Json&, const CallContext& context) {
                return jobs.find(id, context.principal).has_value();
              },
          .observe =
              [&jobs](std::function<void(const std::string&)> changed) {
                return jobs.observe(std::move(changed));
              }};
}

ToolResult answer_for_job(Jobs& jobs, const std::string& job_id, const Json& arguments,
                          CallContext& context) {
  const auto record = jobs.wait(job_id, context.principal, deadline(arguments, 0), context.stop,
                                [&](const JobRecord& seen) { tell(seen, context); });
  if (!record) {
    return {.structured = {{"job_id", job_id},
                           {"status", "error"},
                           {"state", "not_found"},
                           {"error", {{"message", "Job " + job_id + " not found"}}}},
            .text = "Job " + job_id + " not found",
            .is_error = true};
  }
  return answer(*record, detail_of(arguments), jobs, context);
}

}  // namespace assay::tools
