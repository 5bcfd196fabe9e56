// links: assay_mcp_http
// What is decided about a request before anything is done, against any request: head lines, an
// empty line, a body. The claims: nothing crashes; a refusal is a 4xx and can be sent; what is let
// in has said who it is; two looks see the same.
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/codec.h"
#include "mcp/http/access.h"
#include "mcp/http/envelope_check.h"
#include "mcp/http/http_client.h"
#include "mcp/param_headers.h"
#include "tests/fuzz/codec_fuzz.h"

namespace {

using namespace assay::mcp;
using namespace assay::mcp::http;

void require(bool holds) {
  if (!holds) std::abort();
}

HttpRequest request_of(std::string_view bytes) {
  HttpRequest request{.method = "POST", .path = "/mcp"};
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(':'), line.size());
    request.fields.push_back({.name = std::string(line.substr(0, colon)),
                              .value = std::string(line.substr(std::min(colon + 1, line.size())))});
  }
  if (!request.fields.empty()) request.query = request.fields.front().value;
  request.body = std::string(bytes);
  return request;
}

void check_access(const HttpRequest& request) {
  static const Access access({.hosts = {"box.example"},
                              .origins = {"https://a.example"},
                              .tokens = {"a-token-of-the-fuzzer"}});
  for (const auto door : {Access::Door::guarded, Access::Door::open}) {
    const auto admitted = access.admit(request, door);
    if (const auto* refusal = std::get_if<HttpAnswer>(&admitted)) {
      require(refusal->status >= 400 && refusal->status < 500);
      require(!bytes_of(refusal->status, refusal->fields).empty());
    } else if (door == Access::Door::guarded) {
      require(!std::get<std::string>(admitted).empty());
    }
  }
  (void)access.cross_origin_fields(request);
}

void check_envelope(const HttpRequest& http) {
  static Decoder decoder;
  static const std::vector<ParamHeader> headers{{.path = {"region"}, .name = "Region"},
                                                {.path = {"inner", "count"}, .name = "Count"}};
  Body body = decoder.decode_body(http.body, 10);
  for (const Message& message : body.messages) {
    const auto* request = std::get_if<Request>(&message);
    if (request == nullptr) continue;
    const auto era = era_of(*request, http);
    if (!std::holds_alternative<Era>(era) || std::get<Era>(era) != Era::modern) continue;
    const auto refusal = check_modern(*request, http);
    require(!refusal || refusal->status == 400);
    if (refusal) require(!answer_of(*refusal).body.empty());
    const auto unlike = check_param_headers(*request, http, headers);
    require(!unlike || unlike->error.code == ErrorCode::header_mismatch);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const HttpRequest request = request_of(bytes);
  check_access(request);
  check_envelope(request);
  (void)is_json(request);
  require(!names(request, "text/event-stream") || accepts(request, "text/event-stream"));
  for (const Field& field : request.fields) {
    require(request.field(field.name).has_value());
    (void)request.parameter(field.name);
    (void)decoded_header(field.value);
  }
  try {
    const Url url = parse_url(std::string(bytes));
    require(!url.host.empty() && url.path.starts_with('/'));
  } catch (const std::invalid_argument&) {
    // It was none.
  }
  return 0;
}
