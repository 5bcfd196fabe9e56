#include "rest/answers.h"

#include <utility>

namespace assay::rest {
namespace {

using mcp::OrderedJson;

mcp::http::Fields no_caching() {
  return {{"Cache-Control", "no-cache, no-store, must-revalidate"},
          {"Pragma", "no-cache"},
          {"Expires", "0"},
          {"X-Content-Type-Options", "nosniff"}};
}

OrderedJson validation_error(const std::string& pointer, const std::string& message,
                             const std::string& type) {
  return {
      {"field", field_path(pointer)}, {"message", message}, {"type", type}, {"pointer", pointer}};
}

}  // namespace

HttpAnswer json_answer(int status, const OrderedJson& body) {
  return {.status = status,
          .content_type = "application/json",
          .body = body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
          .fields = no_caching()};
}

HttpAnswer text_answer(const std::string& media_type, std::string text) {
  return {
      .status = 200, .content_type = media_type, .body = std::move(text), .fields = no_caching()};
}

HttpAnswer client_error(int status, const std::string& error, OrderedJson details) {
  return json_answer(
      status, {{"error", error}, {"details", std::move(details)}, {"status", "client_error"}});
}

HttpAnswer invalid_request(const std::vector<mcp::Violation>& violations) {
  OrderedJson list = OrderedJson::array();
  for (const mcp::Violation& one : violations) {
    OrderedJson item = validation_error(one.pointer, one.message, one.keyword);
    if (!one.suggestion.empty()) item["suggestion"] = one.suggestion;
    list.push_back(std::move(item));
  }
  return json_answer(400, {{"error", "Invalid request format"},
                           {"validation_errors", std::move(list)},
                           {"status", "client_error"}});
}

HttpAnswer broken_rule(const std::string& pointer, const std::string& message) {
  return json_answer(400,
                     {{"error", message},
                      {"details", {{"field", field_path(pointer)}}},
                      {"validation_errors",
                       OrderedJson::array({validation_error(pointer, message, "value_error")})},
                      {"status", "client_error"}});
}

HttpAnswer not_found(Missing missing, const std::string& error) {
  const char* what = missing == Missing::job ? "job" : missing == Missing::part ? "part" : "path";
  return json_answer(404, {{"error", error}, {"missing", what}, {"status", "error"}});
}

HttpAnswer no_such_job(const std::string& job_id) {
  return not_found(Missing::job, "Job " + job_id + " not found");
}

HttpAnswer wrong_method(const std::string& allowed) {
  HttpAnswer answer = client_error(405, "Method Not Allowed", OrderedJson{{"allowed", allowed}});
  answer.fields.push_back({"Allow", allowed});
  return answer;
}

std::string field_path(const std::string& pointer) {
  std::string path;
  for (std::size_t at = 0; at < pointer.size(); ++at) {
    if (pointer[at] == '/') {
      if (at > 0) path += " -> ";
    } else {
      path += pointer[at];
    }
  }
  return path;
}

}  // namespace assay::rest
