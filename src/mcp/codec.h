// Bytes of one message to a value and back. Nothing here throws on any input: what is wrong with
// the bytes is a value (Invalid, JsonFault). simdjson is named in codec.cc and nowhere else.
//
// What is not a message, and how it is answered:
//   not JSON (truncated, NaN, invalid UTF-8, a lone surrogate,
//     an integer beyond 64 bits, an empty line)                  -32700, id null
//   nested deeper than 256                                       -32600, id if readable
//   more than `max_values` values                                -32600, id null
//   a member name used twice in one object                       -32600, id if readable
//   not an object, a batch within a batch                        -32600, id null
//   `jsonrpc` is not "2.0"; no `method`, `result` or `error`     -32600, id if readable
//   an id that is null, fractional, beyond 64 bits, or no scalar -32600, id null
//   `params` that is neither an object nor null                  -32602, id echoed
// An array is a Batch of its members, each of which may be such a fault.
// A notification with such `params` is dropped by the rule that notifications are never answered;
// it is reported as Invalid without an id and with `notification` set.
//
// A Decoder keeps buffers between messages and belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/message.h"

namespace assay::mcp {

struct JsonLimits {
  std::size_t max_depth = 256;
  std::size_t max_values = 4'000'000;
};

struct JsonFault {
  enum class Kind { malformed, too_deep, too_many_values, repeated_member };
  Kind kind = Kind::malformed;
  std::string message{};
};

// What one HTTP body holds: one message, or those of a batch (one revision has batches).
struct Body {
  bool batch = false;
  std::vector<Message> messages{};  // at least one
};

class Decoder {
 public:
  explicit Decoder(JsonLimits limits = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  [[nodiscard]] Message decode(std::string_view line);
  // Like decode(), but a batch is one. A batch that is empty, or longer than `max_batch`, is one
  // Invalid.
  [[nodiscard]] Body decode_body(std::string_view text, std::size_t max_batch);
  // Any JSON text, under the same limits. Of a repeated member the value keeps the first
  // occurrence.
  [[nodiscard]] std::variant<Json, JsonFault> decode_json(std::string_view text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One line each, without the line feed. Strings that are not UTF-8 are sent with U+FFFD in place of
// the bad bytes.
[[nodiscard]] std::string encode(const OrderedJson& value);
[[nodiscard]] std::string encode_result(const RequestId& id, std::string_view result_text);
[[nodiscard]] std::string encode_error(const std::optional<RequestId>& id, const RpcError& error);
[[nodiscard]] std::string encode_request(const RequestId& id, std::string_view method,
                                         const OrderedJson& params);
[[nodiscard]] std::string encode_notification(std::string_view method, const OrderedJson& params);

}  // namespace assay::mcp
