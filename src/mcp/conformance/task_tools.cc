#include "mcp/conformance/task_tools.h"

#include <condition_variable>
#include <ctime>

#include "mcp/conformance/fixtures.h"
#include "mcp/conformance/sealed_state.h"

namespace assay::mcp::conformance {
namespace {

using std::chrono::milliseconds;
using Plan = FixtureTasks::Plan;

constexpr std::int64_t kTtlMs = 300'000;
constexpr std::int64_t kPollIntervalMs = 200;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

OrderedJson one_string(const char* name) {
  return {{"type", "object"},
          {"properties", {{name, {{"type", "string"}}}}},
          {"required", OrderedJson::array({name})}};
}

OrderedJson question(const std::string& message, const char* name, const char* type) {
  return {{"method", "elicitation/create"},
          {"params",
           {{"mode", "form"},
            {"message", message},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{name, {{"type", type}}}}},
              {"required", OrderedJson::array({name})}}}}}};
}

void sleep(const CallContext& context, milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, context.stop, time, [] { return false; });
}

// As a task if the client can hold one, else by waiting here.
ToolResult carry_out(FixtureTasks& tasks, const CallContext& context, Plan plan) {
  if (context.may_become_task) return {.task = tasks.start(std::move(plan))};
  if (plan.fails) throw std::runtime_error(plan.text);
  if (!plan.questions.empty()) return {.text = "only a task can ask here", .is_error = true};
  sleep(context, plan.time);
  return {.text = plan.text, .is_error = plan.is_error};
}

Tool greet() {
  return {.name = "greet",
          .description = "Greets at once.",
          .input_schema = one_string("name"),
          .run = [](const Json& arguments, CallContext&) {
            return ToolResult{.text = "Hello, " + arguments.at("name").get<std::string>() + "!"};
          }};
}

Tool slow_compute(const std::shared_ptr<FixtureTasks>& tasks) {
  return {.name = "slow_compute",
          .description = "Takes its time.",
          .input_schema = OrderedJson::parse(R"({
            "type": "object",
            "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": 60},
                           "label": {"type": "string"}}})"),
          .run = [tasks](const Json& arguments, CallContext& context) {
            const double seconds = arguments.value("seconds", 1.0);
            return carry_out(*tasks, context,
                             {.time = milliseconds(static_cast<std::int64_t>(seconds * 1000)),
                              .text = "computed " + arguments.value("label", std::string("it"))});
          }};
}

Tool job(const std::shared_ptr<FixtureTasks>& tasks, const char* name, Plan plan) {
  return {.name = name,
          .description = "Ends badly after a second.",
          .run = [tasks, plan = std::move(plan)](const Json&, CallContext& context) {
            return carry_out(*tasks, context, plan);
          }};
}

Tool confirm_delete(const std::shared_ptr<FixtureTasks>& tasks) {
  return {.name = "confirm_delete",
          .description = "Asks before it pretends to delete a file.",
          .input_schema = one_string("filename"),
          .run = [tasks](const Json& arguments, CallContext& context) {
            const auto file = arguments.at("filename").get<std::string>();
            OrderedJson questions;
            questions["confirm"] = question("Delete " + file + "?", "confirm", "boolean");
            return carry_out(*tasks, context,
                             {.text = "deleted " + file, .questions = std::move(questions)});
          }};
}

Tool multi_input(const std::shared_ptr<FixtureTasks>& tasks) {
  return {.name = "multi_input",
          .description = "Asks two things at once.",
          .run = [tasks](const Json&, CallContext& context) {
            OrderedJson questions;
            questions["name"] = question("What is your name?", "name", "string");
            questions["color"] = question("What is your favorite color?", "color", "string");
            return carry_out(*tasks, context,
                             {.text = "both are known", .questions = std::move(questions)});
          }};
}

// First a question of the call, then a task.
Tool tool_with_task(const std::shared_ptr<FixtureTasks>& tasks) {
  return {.name = "test_tool_with_task",
          .description = "Asks for a name, then takes its time.",
          .run =
              [tasks](const Json&, CallContext& context) {
                const auto answer = context.input_responses.find("user_name");
                if (answer == context.input_responses.end() || !answer->is_object()) {
                  OrderedJson requests;
                  requests["user_name"] = question("What is your name?", "name", "string");
                  return ToolResult{.input_requests = std::move(requests)};
                }
                const Json content = answer->value("content", Json::object());
                return carry_out(*tasks, context,
                                 {.time = milliseconds(300), .text = "done for " + content.dump()});
              },
          .needs_task = true};
}

}  // namespace

TaskHandle FixtureTasks::start(Plan plan) {
  Entry entry{.plan = std::move(plan)};
  entry.handle = {.id = random_token(),
                  .created_at = now_text(),
                  .ttl_ms = kTtlMs,
                  .poll_interval_ms = kPollIntervalMs};
  entry.handle.updated_at = entry.handle.created_at;
  entry.due = std::chrono::steady_clock::now() + entry.plan.time;
  const TaskHandle handle = handle_of(entry);
  const std::lock_guard lock(mutex_);
  entries_.emplace(handle.id, std::move(entry));
  return handle;
}

TaskHandle FixtureTasks::handle_of(const Entry& entry) {
  TaskHandle handle = entry.handle;
  if (entry.cancelled)
    handle.status = TaskStatus::cancelled;
  else if (!entry.plan.questions.empty())
    handle.status = TaskStatus::input_required;
  else if (std::chrono::steady_clock::now() >= entry.due)
    handle.status = entry.plan.fails ? TaskStatus::failed : TaskStatus::completed;
  return handle;
}

std::optional<TaskState> FixtureTasks::get(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return {};
  const Plan& plan = found->second.plan;
  return TaskState{.handle = handle_of(found->second),
                   .result = ToolResult{.text = plan.text, .is_error = plan.is_error},
                   .error = plan.text,
                   .input_requests = plan.questions};
}

bool FixtureTasks::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  const TaskStatus status = handle_of(found->second).status;
  if (status == TaskStatus::working || status == TaskStatus::input_required) {
    found->second.cancelled = true;
    found->second.handle.updated_at = now_text();
  }
  return true;
}

bool FixtureTasks::update(const std::string& id, const Json& responses) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  if (responses.is_object())
    for (const auto& [key, value] : responses.items()) found->second.plan.questions.erase(key);
  found->second.handle.updated_at = now_text();
  return true;
}

std::vector<Tool> task_tools(const std::shared_ptr<FixtureTasks>& tasks) {
  std::vector<Tool> tools;
  tools.push_back(greet());
  tools.push_back(slow_compute(tasks));
  tools.push_back(job(tasks, "failing_job",
                      {.time = milliseconds(1000), .text = "the job failed", .is_error = true}));
  tools.back().needs_task = true;
  tools.push_back(job(tasks, "protocol_error_job",
                      {.time = milliseconds(300), .text = "the server failed", .fails = true}));
  tools.push_back(confirm_delete(tasks));
  tools.push_back(multi_input(tasks));
  tools.push_back(tool_with_task(tasks));
  return tools;
}

void add_tasks(const std::shared_ptr<FixtureTasks>& tasks, Tasks& into) {
  into.get = [tasks, more = std::move(into.get)](const std::string& id,
                                                 const CallContext& context) {
    auto found = tasks->get(id);
    return found || !more ? found : more(id, context);
  };
  into.cancel = [tasks, more = std::move(into.cancel)](const std::string& id,
                                                       const CallContext& context) {
    return tasks->cancel(id) || (more && more(id, context));
  };
  into.update = [tasks, more = std::move(into.update)](const std::string& id, const Json& responses,
                                                       const CallContext& context) {
    return tasks->update(id, responses) || (more && more(id, responses, context));
  };
}

}  // namespace assay::mcp::conformance
