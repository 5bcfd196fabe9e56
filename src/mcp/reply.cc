#include "mcp/reply.h"

#include <utility>

#include "mcp/codec.h"

namespace assay::mcp {

Reply::Reply(std::shared_ptr<Exchange> exchange, Log log)
    : exchange_(std::move(exchange)), log_(std::move(log)) {}

Reply& Reply::operator=(Reply&& other) noexcept {
  abandon();
  exchange_ = std::move(other.exchange_);
  log_ = std::move(other.log_);
  return *this;
}

Reply::~Reply() { abandon(); }

void Reply::abandon() {
  if (!open()) return;
  if (log_) log_(Level::error, "request " + text(exchange_->id) + " was left without an answer");
  error({.code = ErrorCode::internal_error, .message = "the server failed to answer this request"});
}

void Reply::result(std::string_view result_text) {
  if (open()) finish(encode_result(exchange_->id, result_text), std::nullopt);
}

void Reply::error(const RpcError& error) {
  if (open()) finish(encode_error(exchange_->id, error), error.code);
}

void Reply::notify(std::string message) const {
  if (open()) exchange_->peer->notify(std::move(message));
}

void Reply::let_poll() const {
  if (open()) exchange_->peer->let_poll();
}

void Reply::finish(std::string message, std::optional<ErrorCode> error) {
  exchange_->open = false;
  exchange_->peer->answer(std::move(message), error);
  if (exchange_->closed) exchange_->closed();
}

}  // namespace assay::mcp
