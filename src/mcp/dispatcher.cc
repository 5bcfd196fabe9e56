#include "mcp/dispatcher.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "mcp/codec.h"
#include "mcp/place.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

// A request costs its parsed form and its bookkeeping besides its bytes.
constexpr std::size_t kRequestOverheadBytes = 4096;
constexpr std::size_t kMaxEchoBytes = 100;
// Each member may be owed an answer before the next look at what is owed.
constexpr std::size_t kMaxBatch = 1000;

constexpr const char* kLogLevelKey = "io.modelcontextprotocol/logLevel";

struct MetaParams {
  std::optional<ProgressToken> progress_token{};
  std::optional<std::string> log_level{};
  void read(Reader& reader) {
    reader.optional("progressToken", progress_token);
    reader.optional(kLogLevelKey, log_level);
  }
};

Offers offers_of(const ServerConfig& config) {
  Offers offers = LibraryCalls::offers_of(config.resources, config.prompts, config.client_log);
  offers.tasks = config.tasks.offered();
  return offers;
}

// What an earlier round of this call asked for; of another shape, it was not answered.
void take_round(Json& params, Call& call) {
  if (const auto found = params.find("inputResponses"); found != params.end() && found->is_object())
    call.input_responses = *found;  // tasks/update reads them too
  if (const auto found = params.find("requestState"); found != params.end() && found->is_string())
    call.request_state = found->get<std::string>();
}

RpcError unknown_method(const std::string& name) {
  return {.code = ErrorCode::method_not_found,
          .message = "unknown method \"" + shortened(name, kMaxEchoBytes) + '"'};
}

}  // namespace

Dispatcher::Dispatcher(ServerConfig config, EventLoop& loop)
    : identity_{.name = std::move(config.name),
                .title = std::move(config.title),
                .version = std::move(config.version),
                .instructions = std::move(config.instructions),
                .offers = offers_of(config)},
      catalogue_(std::move(config.tools)),
      limits_(config.limits),
      log_(std::move(config.log)),
      methods_(make_methods()),
      library_(std::move(config.resources), std::move(config.prompts), identity_),
      tasks_(std::move(config.tasks), identity_),
      subscriptions_(tasks_.tasks(), identity_, loop, calls_, log_),
      calls_(catalogue_, identity_, limits_, config.check_results, loop, log_) {}

void Dispatcher::receive(Incoming incoming) {
  Message message = std::move(incoming.message);
  std::visit([&](auto& value) { on(std::move(value), incoming); }, message);
}

void Dispatcher::on(Request request, const Incoming& incoming) {
  Peer& peer = *incoming.peer;
  const Key key{&peer.session(), request.id};
  const auto refuse = [&](const RpcError& error) {
    peer.answer(encode_error(request.id, error), error.code);
  };
  if (in_flight_.contains(key))
    return refuse({.code = ErrorCode::invalid_request,
                   .message = "the request id " + text(request.id) + " is already in flight"});
  const Method* method = nullptr;
  auto admitted = admit(request, method, peer);
  if (const auto* error = std::get_if<RpcError>(&admitted)) return refuse(*error);

  auto& call = std::get<Call>(admitted);
  auto exchange = std::make_shared<Exchange>(Exchange{.peer = incoming.peer, .id = request.id});
  exchange->closed = [this, key] { forget(key); };
  InFlight entry{.exchange = exchange, .bytes = incoming.bytes + kRequestOverheadBytes};
  call.stop = entry.stop.get_token();
  pending_bytes_ += entry.bytes;
  in_flight_.emplace(key, std::move(entry));
  std::get<RequestHandler>(method->handler)(call, std::move(request.params), Reply(exchange, log_));
}

std::variant<Call, RpcError> Dispatcher::admit(Request& request, const Method*& method,
                                               Peer& peer) {
  const Era era = era_of(request.params);
  Call call{.peer = &peer};
  const std::optional<Client>& session_client = peer.session().legacy_client;
  if (era == Era::modern) {
    auto client = modern_client(request.params);
    if (auto* error = std::get_if<RpcError>(&client)) return std::move(*error);
    call.client = std::move(std::get<Client>(client));
  } else if (session_client) {
    call.client = *session_client;
  }
  method = find_method(request.method);
  if (!method || !std::holds_alternative<RequestHandler>(method->handler))
    return unknown_method(request.method);
  if (!method->exists_in(era)) return wrong_era(method->name, era, session_client.has_value());
  if (era == Era::legacy && method->needs_session && !session_client) return not_initialized();
  if (const auto meta = request.params.find("_meta");
      meta != request.params.end() && meta->is_object()) {
    MetaParams read;
    Reader reader(*meta, "/params/_meta");
    read.read(reader);
    if (!reader.faults().empty()) return invalid_params(reader.faults());
    call.progress_token = std::move(read.progress_token);
    if (era == Era::modern && read.log_level) {
      call.log_level = log_level_from(*read.log_level);
      if (!call.log_level)
        return invalid_params({{.pointer = "/params/_meta/" + pointer_segment(kLogLevelKey),
                                .keyword = "enum",
                                .message = "not a log level"}});
    }
  }
  if (era == Era::legacy) call.log_level = peer.session().log_level;
  if (!identity_.offers.logging) call.log_level.reset();
  if (era == Era::modern) take_round(request.params, call);
  return call;
}

void Dispatcher::on(Notification notification, const Incoming& incoming) {
  const Method* method = find_method(notification.method);
  if (!method || !std::holds_alternative<NotificationHandler>(method->handler))
    return log(Level::debug,
               "ignored the notification " + shortened(notification.method, kMaxEchoBytes));
  std::get<NotificationHandler>(method->handler)(*incoming.peer, std::move(notification.params));
}

void Dispatcher::on(const Response& response, const Incoming& incoming) {
  calls_.answered(incoming.peer->session(), response);
}

void Dispatcher::on(const Invalid& invalid, const Incoming& incoming) {
  log(Level::debug, "not a message: " + invalid.error.message);
  if (!invalid.notification)
    incoming.peer->answer(encode_error(invalid.id, invalid.error), invalid.error.code);
}

// Answered one by one as each is done, a line each: no answer waits for a slow neighbour, and every
// client matches by id, whereas few that speak this revision read an array from a pipe.
void Dispatcher::on(Batch batch, const Incoming& incoming) {
  const auto& client = incoming.peer->session().legacy_client;
  const bool allowed = client && client->revision == Revision::v2025_03_26;
  const bool bounded = !batch.members.empty() && batch.members.size() <= kMaxBatch;
  if (!allowed || !bounded) {
    const char* reason = allowed ? "a batch has 1 to 1000 messages"
                                 : "batches are not supported; send one message per line";
    return on(Invalid{.error = {.code = ErrorCode::invalid_request, .message = reason}}, incoming);
  }
  const Incoming share{.bytes = incoming.bytes / batch.members.size(), .peer = incoming.peer};
  for (auto& member : batch.members) {
    if (auto* request = std::get_if<Request>(&member); request && request->method == "initialize") {
      on(Invalid{.id = request->id,
                 .error = {.code = ErrorCode::invalid_request,
                           .message = "initialize must not be part of a batch"}},
         share);
    } else {
      std::visit([&](auto& value) { on(std::move(value), share); }, member);
    }
  }
}

void Dispatcher::cancel(Peer& peer, const RequestId& id) {
  const auto found = in_flight_.find({&peer.session(), id});
  if (found == in_flight_.end()) return;  // unknown or answered already: the race is the client's
  withdraw(found);
}

void Dispatcher::withdraw(std::map<Key, InFlight>::iterator found) {
  InFlight entry = std::move(in_flight_.extract(found).mapped());
  pending_bytes_ -= entry.bytes;
  entry.exchange->open = false;
  entry.exchange->peer->leave_unanswered();
  entry.stop.request_stop();
}

void Dispatcher::session_ended(const Session& session) {
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    const auto entry = it++;
    if (entry->first.first == &session) withdraw(entry);
  }
}

void Dispatcher::forget(const Key& key) {
  const auto found = in_flight_.find(key);
  if (found == in_flight_.end()) return;
  pending_bytes_ -= found->second.bytes;
  in_flight_.erase(found);
}

void Dispatcher::peer_gone(const Peer& peer) {
  std::vector<InFlight> gone;
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    if (it->second.exchange->peer.get() != &peer) {
      ++it;
      continue;
    }
    pending_bytes_ -= it->second.bytes;
    gone.push_back(std::move(it->second));
    it = in_flight_.erase(it);
  }
  for (InFlight& entry : gone) {
    entry.exchange->open = false;
    entry.stop.request_stop();
  }
}

void Dispatcher::stop_all() {
  subscriptions_.end_all();
  const auto stopped = std::exchange(in_flight_, {});
  pending_bytes_ = 0;
  for (const auto& [key, entry] : stopped) {
    Reply(entry.exchange, log_)
        .error({.code = ErrorCode::internal_error,
                .message = "the server is stopping; this request was cancelled"});
    std::stop_source(entry.stop).request_stop();
  }
}

const Method* Dispatcher::find_method(std::string_view name) const {
  const auto found = std::find_if(methods_.begin(), methods_.end(),
                                  [name](const Method& method) { return method.name == name; });
  return found == methods_.end() ? nullptr : &*found;
}

void Dispatcher::log(Level level, const std::string& text) const {
  if (log_) log_(level, text);
}

}  // namespace assay::mcp
