#include "mcp/message.h"

#include <limits>

namespace assay::mcp {

std::string text(const RequestId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id.value)) return std::to_string(*number);
  return '"' + std::get<std::string>(id.value) + '"';
}

OrderedJson to_json(const RequestId& id) {
  return std::visit([](const auto& value) { return OrderedJson(value); }, id.value);
}

std::optional<RequestId> request_id_from(const Json& value) {
  if (value.is_string()) return RequestId{value.get<std::string>()};
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return RequestId{static_cast<std::int64_t>(number)};
  }
  if (value.is_number_integer()) return RequestId{value.get<std::int64_t>()};
  return std::nullopt;
}

}  // namespace assay::mcp
