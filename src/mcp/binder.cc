#include "mcp/binder.h"

#include "mcp/place.h"

namespace assay::mcp {

bool read_value(Json& from, std::string& into) {
  if (!from.is_string()) return false;
  into = std::move(from.get_ref<std::string&>());
  return true;
}

bool read_value(Json& from, RequestId& into) {
  std::optional<RequestId> id = request_id_from(from);
  if (id) into = std::move(*id);
  return id.has_value();
}

bool read_value(Json& from, Json& into) {
  into = std::move(from);
  return true;
}

Json* Reader::member(const char* key) {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Reader::fault(const char* key, const char* keyword, std::string message) {
  faults_.push_back({.pointer = pointer_ + '/' + pointer_segment(key),
                     .keyword = keyword,
                     .message = std::move(message)});
}

RpcError invalid_params(const std::vector<Violation>& faults) {
  return {.code = ErrorCode::invalid_params,
          .message = describe(faults),
          .data = {{"violations", to_json(faults)}}};
}

}  // namespace assay::mcp
