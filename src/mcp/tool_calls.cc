#include "mcp/tool_calls.h"

#include <exception>
#include <system_error>
#include <utility>

#include "mcp/arguments.h"
#include "mcp/codec.h"
#include "mcp/told_violations.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxEchoBytes = 100;
// A call that took no longer is quick.
constexpr std::chrono::microseconds kQuick{200};

ToolResult refused(const std::string& tool, const std::vector<Violation>& violations) {
  ToldViolations told = told_violations(violations);
  OrderedJson error = {{"code", "invalid_arguments"}};
  error.update(told.error);
  return {.structured = {{"status", "client_error"}, {"error", std::move(error)}},
          .text = "The arguments of " + tool + " were refused; nothing was run.\n" + told.text,
          .is_error = true};
}

// Some clients send the whole arguments object as a string.
bool make_object(Json& arguments) {
  if (arguments.is_string()) {
    auto decoded = Decoder().decode_json(arguments.get_ref<const std::string&>());
    if (auto* value = std::get_if<Json>(&decoded)) arguments = std::move(*value);
  }
  return arguments.is_object();
}

}  // namespace

ToolCalls::ToolCalls(const Catalogue& catalogue, const Identity& identity, const Limits& limits,
                     bool check_results, EventLoop& loop, Log log)
    : catalogue_(catalogue),
      identity_(identity),
      limits_(limits),
      check_results_(check_results),
      loop_(loop),
      log_(std::move(log)),
      pool_(limits.max_tool_threads + loop.pool_threads(), limits.idle_tool_thread,
            limits.max_waiting_calls) {}

void ToolCalls::start(const Call& call, CallParams params, Reply reply) {
  const Lookup tool = catalogue_.find(params.name);
  if (!tool.entry) {
    const std::string near = catalogue_.nearest(params.name);
    return reply.error({.code = ErrorCode::invalid_params,
                        .message = "unknown tool \"" + shortened(params.name, kMaxEchoBytes) + '"' +
                                   (near.empty() ? "" : "; did you mean \"" + near + "\"?")});
  }
  if (const auto missing = missing_capability(tool.entry->tool.needs, call.client))
    return reply.error(*missing);
  if (tool.entry->tool.needs_task)
    if (const auto missing = missing_tasks(call.client)) return reply.error(*missing);
  if (!make_object(params.arguments))
    return reply.error(invalid_params(
        {{.pointer = "/params/arguments", .keyword = "type", .message = "expected an object"}}));
  auto arguments = std::make_shared<Json>(std::move(params.arguments));
  const std::string what = "tool " + tool.entry->tool.name;
  const auto work = [this, tool, arguments](CallContext& context) -> Ending {
    ToolResult result = judge(tool, std::move(*arguments), context);
    if (context.stop.stop_requested()) return std::string();
    keep_promise(*tool.entry, result);
    return encode(call_result(identity_, result, context.client.revision));
  };
  defer(call, std::move(reply), what, work, tool.entry);
}

void ToolCalls::defer(const Call& call, Reply reply, std::string what,
                      std::function<Ending(CallContext&)> work, const Entry* tool) {
  const std::uint64_t serial = ++last_serial_;
  const std::shared_ptr<CallContext> context = open_context(serial, call);
  std::shared_ptr<ProgressGate> gate;
  if (call.progress_token) {
    gate = open_gate(serial, *call.progress_token, call.client.revision);
    context->progress_sink = [gate](Progress progress) { gate->tell(std::move(progress)); };
  }
  running_.emplace(serial, Running{.reply = std::move(reply), .gate = gate, .tool = tool});
  Task task = [this, serial, context, what = std::move(what), work = std::move(work)] {
    const Clock::time_point begin = Clock::now();
    auto done = std::make_shared<Done>(Done{.ending = guarded(what, work, *context)});
    done->took = Clock::now() - begin;
    loop_.post([this, serial, done] { finish(serial, *done); });
  };
  const auto last = last_took_.find(tool);
  if (last != last_took_.end() && last->second <= kQuick && loop_.carry_out(task)) return;
  try {
    pool_.submit(std::move(task));
  } catch (const std::system_error& error) {
    finish(serial, {.ending = RpcError{
                        .code = ErrorCode::internal_error,
                        .message = std::string("no thread for this call: ") + error.what()}});
  }
}

bool ToolCalls::work(std::function<void()> work) {
  try {
    pool_.submit(std::move(work));
    return true;
  } catch (const std::system_error& error) {
    if (log_) log_(Level::warning, std::string("no thread for a subscription: ") + error.what());
    return false;
  }
}

std::shared_ptr<CallContext> ToolCalls::open_context(std::uint64_t serial, const Call& call) {
  auto context = std::make_shared<CallContext>(
      CallContext{.stop = call.stop,
                  .principal = call.peer->session().principal,
                  .client = call.client,
                  .may_become_task = identity_.offers.tasks && !missing_tasks(call.client) &&
                                     era_of(call.client.revision) == Era::modern,
                  .input_responses = call.input_responses,
                  .request_state = call.request_state});
  context->step_aside = [this, whose = context->principal] { return pool_.step_aside(whose); };
  // On the event thread, and only while the call has not been answered.
  const auto notify = [this, serial](std::string message) {
    const auto running = running_.find(serial);
    if (running == running_.end()) return false;
    running->second.reply.notify(std::move(message));
    return true;
  };
  if (call.log_level)
    context->log_sink = [this, notify, least = *call.log_level](LogLevel level,
                                                                const OrderedJson& data) {
      if (level < least) return;
      const OrderedJson params = {{"level", text(level)}, {"data", data}};
      loop_.post([notify, message = encode_notification("notifications/message", params)] {
        notify(message);
      });
    };
  if (era_of(call.client.revision) != Era::legacy) return context;
  context->let_poll = [this, serial] {
    loop_.post([this, serial] {
      const auto running = running_.find(serial);
      if (running != running_.end()) running->second.reply.let_poll();
    });
  };
  // The session only tells whose answers these are.
  context->ask = [this, notify, session = &call.peer->session(), stop = call.stop,
                  step_aside = context->step_aside](
                     const std::string& method, const OrderedJson& params) -> std::optional<Json> {
    const auto aside = step_aside();
    if (!aside) return std::nullopt;
    return questions_.ask(session, method, params, stop, limits_.answer_time, notify);
  };
  return context;
}

std::shared_ptr<ProgressGate> ToolCalls::open_gate(std::uint64_t serial, const ProgressToken& token,
                                                   Revision revision) {
  return std::make_shared<ProgressGate>(
      loop_, limits_.progress_burst, limits_.progress_interval,
      [this, serial, token, revision](const Progress& progress) {
        const auto call = running_.find(serial);
        if (call == running_.end()) return;
        call->second.reply.notify(encode_notification("notifications/progress",
                                                      progress_params(token, progress, revision)));
      });
}

ToolCalls::Ending ToolCalls::guarded(const std::string& what,
                                     const std::function<Ending(CallContext&)>& work,
                                     CallContext& context) const {
  const auto fault = [this, &what](const std::string& why) {
    if (log_) log_(Level::error, what + " threw: " + why);
    return RpcError{.code = ErrorCode::internal_error,
                    .message = "internal error in " + what + ": " + shortened(why, 200)};
  };
  try {
    // Cancelled while it waited for a thread: nobody will read the answer.
    if (context.stop.stop_requested()) return std::string();
    return work(context);
  } catch (const BadRequest& request) {
    return RpcError{.code = ErrorCode::invalid_params, .message = request.what()};
  } catch (const std::exception& exception) {
    return fault(exception.what());
  } catch (...) {
    return fault("an exception of unknown type");
  }
}

ToolResult ToolCalls::judge(const Lookup& tool, Json arguments, CallContext& context) const {
  const Entry& entry = *tool.entry;
  const auto& adapt = tool.alias ? tool.alias->adapt : entry.tool.adapt;
  if (adapt) arguments = adapt(std::move(arguments));
  const std::vector<Violation> violations = check_arguments(entry.input, arguments);
  if (!violations.empty()) return refused(entry.tool.name, violations);
  ToolResult result = entry.tool.run(arguments, context);
  if (tool.alias && tool.alias->present) tool.alias->present(result);
  return result;
}

// Clients check structuredContent against the output schema, even of an error, and throw the whole
// result away when it does not fit. An error's text says everything, so its structure may go.
void ToolCalls::keep_promise(const Entry& entry, ToolResult& result) const {
  if (entry.tool.output_schema.is_null() || !(result.is_error || check_results_)) return;
  const std::vector<Violation> violations = entry.output.check(Json(result.structured));
  if (violations.empty()) return;
  if (result.is_error) {
    result.structured = nullptr;
  } else if (log_) {
    log_(Level::error,
         "tool " + entry.tool.name + " broke its output schema: " + describe(violations));
  }
}

void ToolCalls::finish(std::uint64_t serial, const Done& done) {
  auto call = running_.extract(serial);
  if (call.empty()) return;
  Running& running = call.mapped();
  if (running.gate) running.gate->close();
  if (running.tool != nullptr) last_took_[running.tool] = done.took;
  if (const auto* error = std::get_if<RpcError>(&done.ending)) return running.reply.error(*error);
  running.reply.result(std::get<std::string>(done.ending));
}

}  // namespace assay::mcp
