#include "mcp/subscriptions.h"

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "mcp/codec.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxListeners = 1024;
constexpr std::size_t kMaxTasks = 256;  // of one listener
constexpr std::chrono::milliseconds kLookAgain{1'000};
constexpr const char* kSubscriptionIdKey = "io.modelcontextprotocol/subscriptionId";

bool has_ended(const TaskHandle& task) {
  return task.status == TaskStatus::completed || task.status == TaskStatus::failed ||
         task.status == TaskStatus::cancelled;
}

// The ids that are asked for, each once; nothing if they are not a list of texts.
std::optional<std::vector<std::string>> task_ids(const Json& notifications) {
  std::vector<std::string> ids;
  const auto found = notifications.find("taskIds");
  if (found == notifications.end()) return ids;
  if (!found->is_array()) return std::nullopt;
  for (const Json& id : *found) {
    if (!id.is_string()) return std::nullopt;
    ids.push_back(id.get<std::string>());
  }
  return ids;
}

RpcError bad(const char* pointer, const char* keyword, const char* message) {
  return invalid_params({{.pointer = pointer, .keyword = keyword, .message = message}});
}

using Callback = std::stop_callback<std::function<void()>>;

}  // namespace

Subscriptions::Subscriptions(const Tasks& tasks, const Identity& identity, EventLoop& loop,
                             ToolCalls& pool, Log log)
    : tasks_(tasks), identity_(identity), loop_(loop), pool_(pool), log_(std::move(log)) {
  if (tasks_.observe)
    observation_ =
        tasks_.observe([this](const std::string& id) { loop_.post([this, id] { changed(id); }); });
}

Subscriptions::~Subscriptions() = default;

void Subscriptions::listen(const Call& call, const ListenParams& params, Reply reply) {
  if (!params.notifications.is_object())
    return reply.error(bad("/params/notifications", "type", "expected an object"));
  const auto ids = task_ids(params.notifications);
  if (!ids)
    return reply.error(bad("/params/notifications/taskIds", "type", "expected a list of strings"));
  if (ids->size() > kMaxTasks)
    return reply.error(bad("/params/notifications/taskIds", "maxItems", "more than 256 tasks"));
  if (!ids->empty())
    if (const auto missing = missing_tasks(call.client)) return reply.error(*missing);
  if (listeners_.size() >= kMaxListeners)
    return reply.error({.code = ErrorCode::internal_error,
                        .message = "too many subscriptions are open on this server"});
  const std::uint64_t serial = ++last_serial_;
  auto context = std::make_shared<const CallContext>(CallContext{
      .stop = call.stop, .principal = call.peer->session().principal, .client = call.client});
  Listener listener{.reply = std::move(reply), .context = context};
  // Called in the middle of taking the request out: the entry goes when that is over.
  listener.departure = std::make_shared<Callback>(
      call.stop, [this, serial] { loop_.post([this, serial] { listeners_.erase(serial); }); });
  listeners_.emplace(serial, std::move(listener));
  const bool begun = pool_.work([this, serial, context, ids = *ids] {
    auto known = std::make_shared<States>();
    for (const std::string& id : ids)
      if (auto seen = look(id, *context); seen.state)
        known->emplace_back(id, std::move(*seen.state));
    loop_.post([this, serial, known] { open(serial, *known); });
  });
  if (!begun) finish(std::move(listeners_.extract(serial).mapped()));
}

// Runs on a pool thread, from which nothing may be thrown.
Subscriptions::Look Subscriptions::look(const std::string& id, const CallContext& context) const {
  try {
    return {.state = tasks_.get(id, context)};
  } catch (const std::exception& error) {
    if (log_) log_(Level::error, "a task that is listened to: " + std::string(error.what()));
    return {.failed = true};
  }
}

void Subscriptions::open(std::uint64_t serial, const States& known) {
  const auto found = listeners_.find(serial);
  if (found == listeners_.end()) return;
  Listener& listener = found->second;
  OrderedJson honoured = OrderedJson::object();
  for (const auto& [id, state] : known) {
    if (!listener.tasks.emplace(id, Watched{}).second) continue;
    honoured["taskIds"].push_back(id);
  }
  listener.acknowledged = true;
  listener.reply.notify(encode_notification("notifications/subscriptions/acknowledged",
                                            tagged({{"notifications", honoured}}, listener)));
  for (const auto& [id, state] : known) tell(listener, id, state);
  // What changed while the states were asked for was told to nobody.
  for (const auto& [id, state] : known)
    if (!has_ended(state.handle)) ask(serial, id);
  look_again(serial);
  finish_if_over(serial);
}

// Not every change is told: a task may be in the hands of another server on the same journal.
void Subscriptions::look_again(std::uint64_t serial) {
  loop_.post_at(Clock::now() + kLookAgain, [this, serial] {
    const auto found = listeners_.find(serial);
    if (found == listeners_.end()) return;
    std::vector<std::string> open;
    for (const auto& [id, watched] : found->second.tasks)
      if (!watched.ended) open.push_back(id);
    if (open.empty()) return;
    for (const std::string& id : open) ask(serial, id);
    look_again(serial);
  });
}

void Subscriptions::changed(const std::string& task_id) {
  for (const auto& [serial, listener] : listeners_)
    if (listener.tasks.contains(task_id)) ask(serial, task_id);
}

void Subscriptions::ask(std::uint64_t serial, const std::string& task_id) {
  Listener& listener = listeners_.at(serial);
  Watched& watched = listener.tasks.at(task_id);
  if (watched.ended) return;
  watched.again = watched.asking;
  if (std::exchange(watched.asking, true)) return;
  const bool begun = pool_.work([this, serial, task_id, context = listener.context] {
    auto seen = std::make_shared<Look>(look(task_id, *context));
    loop_.post([this, serial, task_id, seen] { answered(serial, task_id, *seen); });
  });
  // The next change asks again.
  if (!begun) watched.asking = false;
}

void Subscriptions::answered(std::uint64_t serial, const std::string& task_id, const Look& seen) {
  const auto found = listeners_.find(serial);
  if (found == listeners_.end()) return;
  Watched& watched = found->second.tasks.at(task_id);
  watched.asking = false;
  if (seen.state) tell(found->second, task_id, *seen.state);
  // It has been forgotten: nothing of it will change any more.
  if (!seen.state && !seen.failed) watched.ended = true;
  if (std::exchange(watched.again, false)) ask(serial, task_id);
  finish_if_over(serial);
}

void Subscriptions::tell(Listener& listener, const std::string& task_id,
                         const TaskState& state) const {
  Watched& watched = listener.tasks.at(task_id);
  if (watched.ended) return;
  std::string message = encode_notification(
      "notifications/tasks",
      tagged(task_members(identity_, state, listener.context->client.revision), listener));
  watched.ended = has_ended(state.handle);
  if (message == watched.told) return;
  listener.reply.notify(message);
  watched.told = std::move(message);
}

void Subscriptions::finish_if_over(std::uint64_t serial) {
  const auto found = listeners_.find(serial);
  if (!input_ended_ || found == listeners_.end() || !found->second.acknowledged) return;
  for (const auto& [id, watched] : found->second.tasks)
    if (!watched.ended) return;
  finish(std::move(listeners_.extract(found).mapped()));
}

void Subscriptions::finish(Listener listener) {
  OrderedJson result =
      complete_result(OrderedJson::object(), identity_, listener.context->client.revision);
  result["_meta"][kSubscriptionIdKey] = to_json(listener.reply.id());
  listener.reply.result(encode(result));
}

void Subscriptions::input_ended() {
  if (std::exchange(input_ended_, true)) return;
  std::vector<std::uint64_t> open;
  for (const auto& [serial, listener] : listeners_) open.push_back(serial);
  for (const std::uint64_t serial : open) finish_if_over(serial);
}

void Subscriptions::end_all() {
  for (auto& [serial, listener] : std::exchange(listeners_, {})) finish(std::move(listener));
}

OrderedJson Subscriptions::tagged(OrderedJson params, const Listener& listener) const {
  params["_meta"] = {{kSubscriptionIdKey, to_json(listener.reply.id())}};
  return params;
}

}  // namespace assay::mcp
