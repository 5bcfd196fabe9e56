#include "mcp/questions.h"

#include "mcp/codec.h"

namespace assay::mcp {

void Questions::Question::settle(std::optional<Json> with) {
  const std::lock_guard lock(mutex);
  if (settled) return;
  settled = true;
  result = std::move(with);
  changed.notify_all();
}

std::optional<Json> Questions::ask(const Session* session, const std::string& method,
                                   const OrderedJson& params, const std::stop_token& stop,
                                   std::chrono::milliseconds patience, Send send) {
  const auto question = std::make_shared<Question>();
  const auto key = std::make_shared<std::optional<Key>>();
  loop_.post([this, question, key, session, method, params, send = std::move(send)] {
    const RequestId id{++last_id_};
    key->emplace(session, id);
    open_.emplace(**key, question);
    if (!send(encode_request(id, method, params))) question->settle(std::nullopt);
  });
  std::optional<Json> result;
  {
    std::unique_lock lock(question->mutex);
    question->changed.wait_for(lock, stop, patience, [&] { return question->settled; });
    result = std::exchange(question->result, std::nullopt);
    question->settled = true;
  }
  loop_.post([this, key] {
    if (*key) open_.erase(**key);
  });
  return result;
}

void Questions::answered(const Session& session, const Response& response) {
  if (!response.id) return;
  const auto found = open_.find({&session, *response.id});
  if (found == open_.end()) return;
  found->second->settle(response.error ? std::nullopt : std::optional(response.result));
}

}  // namespace assay::mcp
