#include "tools/job_answer.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/node/sweep_job.h"
#include "tools/answer_cap.h"
#include "tools/baseline.h"
#include "tools/brief.h"
#include "tools/job_links.h"
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
// A client that hears nothing for longer may give the call up.
constexpr std::chrono::seconds kTellEvery{5};
// How long a stage takes until it is told as half done: nobody knows, but it has to grow.
constexpr double kHalfDoneS = 60;

Clock::time_point deadline(const Json& arguments, double default_s, const CallContext& context) {
  const double wait_s = arguments.value("wait_s", default_s);
  return context.arrived +
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

// Plans, generators, commits and scenarios are asked for their cases: those stay whole.
bool is_short_by_default(const JobRecord& record) {
  return !is_of_steps(record) || record.kind == node::sweep_kind().name;
}

// What was asked for beside the verdict has room beside it.
std::size_t most_tokens(const OrderedJson& report) {
  const auto validation = report.find("validation");
  return kBriefTokens + (report.contains("device_metrics") ? kCounterTokens : 0) +
         (validation != report.end() && validation->contains("checks") ? kCheckTokens : 0);
}

ToolResult answer(const JobRecord& record, const Json& arguments, Jobs& jobs,
                  const CallContext& context) {
  const Detail detail = detail_of(arguments);
  ToolResult result{.structured = report(record, detail)};
  add_change(result.structured, record, jobs, context);
  result.text = report_text(result.structured);
  result.is_error = is_error(record);
  result.links = links_of(record, detail);
  // Who says max_tokens gets that cap instead.
  if (detail == Detail::brief && is_short_by_default(record) && !arguments.contains("max_tokens"))
    cap(result, most_tokens(result.structured));
  return result;
}

// A job as its client sees it come on: every stage, and between them that it is still there.
class Teller {
 public:
  explicit Teller(const CallContext& context) : context_(context) {}

  void tell_stage(const JobRecord& record) {
    if (record.stages.size() == stages_) return;
    stages_ = record.stages.size();
    since_ = Clock::now();
    tell(record, 0, "");
  }

  // REQUIRES its stages have been told.
  void tell_time(const JobRecord& record) {
    const double idle_s = std::chrono::duration<double>(Clock::now() - since_).count();
    tell(record, idle_s / (idle_s + kHalfDoneS),
         ", " + std::to_string(std::lround(idle_s)) + " s ago");
  }

 private:
  void tell(const JobRecord& record, double part, const std::string& when) {
    context_.progress(static_cast<double>(stages_) + part,
                      is_of_steps(record) ? steps_total(record) : kStages,
                      "job " + record.id + ": " + reached(record) + when);
  }

  [[nodiscard]] static std::string reached(const JobRecord& record) {
    if (is_of_steps(record)) return steps_progress(record);
    if (record.stages.empty()) return "submitted";
    const job::StageRecord& last = record.stages.back();
    return last.name + (last.status == job::StageStatus::failed ? " (failed)" : "");
  }

  const CallContext& context_;
  std::size_t stages_ = 0;
  Clock::time_point since_ = Clock::now();
};

// The record at the job's end or at `end`; as it stands now, if too many calls wait already.
std::optional<JobRecord> wait_for(Jobs& jobs, const std::string& job_id, Clock::time_point end,
                                  const CallContext& context, const Jobs::Look& on_end) {
  Teller teller(context);
  std::function<void(const JobRecord&)> tell;
  if (context.progress_sink) tell = [&teller](const JobRecord& seen) { teller.tell_stage(seen); };
  std::shared_ptr<void> aside;
  if (context.step_aside && end > Clock::now()) {
    aside = context.step_aside();
    if (!aside) end = Clock::now();
  }
  while (true) {
    const auto until = context.progress_sink ? std::min(end, Clock::now() + kTellEvery) : end;
    auto record = jobs.wait(job_id, context.principal, until, context.stop, tell, on_end);
    if (!record || job::is_final(record->state) || context.stop.stop_requested()) return record;
    if (Clock::now() >= end) return record;
    teller.tell_time(*record);
  }
}

}  // namespace

std::variant<std::string, ToolResult> submit_job(Jobs& jobs, const job::Kind& kind,
                                                 nlohmann::json request,
                                                 const std::string& principal,
                                                 std::string last_asked) {
  try {
    return jobs.submit(kind, std::move(request), principal, std::move(last_asked));
  } catch (const journal::JournalUnavailable& error) {
    return server_fault(
        std::string("The job could not be recorded, so it was not run: ") + error.what(), true);
  } catch (const std::invalid_argument& error) {
    return refuse("", error.what());
  }
}

ToolResult answer_for_new_job(Jobs& jobs, const std::string& job_id, const Json& arguments,
                              CallContext& context) {
  // Told at once, so that a client which loses the answer can still ask for the job.
  const auto end = deadline(arguments, kDefaultWaitS, context);
  std::optional<ToolResult> made;
  const auto record = wait_for(
      jobs, job_id, context.may_become_task ? std::min(end, Clock::now() + kTaskAfter) : end,
      context, [&](const JobRecord& ended) { made = answer(ended, arguments, jobs, context); });
  if (context.stop.stop_requested()) {
    [[maybe_unused]] const auto cancelled = jobs.cancel(job_id, context.principal);
    return {.structured = {{"job_id", job_id}, {"status", "success"}, {"state", "cancelled"}}};
  }
  if (!record) return server_fault("The job has vanished from the journal.", true);
  if (context.may_become_task && !job::is_final(record->state))
    return {.task = task_handle(*record, jobs.kept_for())};
  return made ? std::move(*made) : answer(*record, arguments, jobs, context);
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
              task.result = answer(*record, Json::object(), jobs, context);
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
  std::optional<ToolResult> made;
  const auto record =
      wait_for(jobs, job_id, deadline(arguments, 0, context), context,
               [&](const JobRecord& ended) { made = answer(ended, arguments, jobs, context); });
  if (!record) {
    return {.structured = {{"job_id", job_id},
                           {"status", "error"},
                           {"state", "not_found"},
                           {"error", {{"message", "Job " + job_id + " not found"}}}},
            .text = "Job " + job_id + " not found",
            .is_error = true};
  }
  ToolResult result = made ? std::move(*made) : answer(*record, arguments, jobs, context);
  result.structured["created_at"] = iso_time(record->created_ns);
  return result;
}

}  // namespace assay::tools
