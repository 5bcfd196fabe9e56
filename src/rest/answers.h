// What every answer of the REST interface has in common: JSON, the fields that keep it out of
// caches, and the manual's three shapes of a refusal. Pure; any thread.
//
//   400, 405, …        {error, details, validation_errors?, status: "client_error"}
//   404                {error, missing: "job" | "part" | "path", status: "error"}
//   500                {kernel_exec_result, ref_runtime, pod_name, pod_ip, status: "error",
//                       error, …}
#pragma once

#include <string>
#include <vector>

#include "mcp/http/http_message.h"
#include "mcp/json.h"
#include "mcp/schema.h"

namespace assay::rest {

using mcp::http::HttpAnswer;

[[nodiscard]] HttpAnswer json_answer(int status, const mcp::OrderedJson& body);
[[nodiscard]] HttpAnswer text_answer(const std::string& media_type, std::string text);

[[nodiscard]] HttpAnswer client_error(int status, const std::string& error,
                                      mcp::OrderedJson details = mcp::OrderedJson::object());
// Violations of a schema, or a rule in the manual's own words.
[[nodiscard]] HttpAnswer invalid_request(const std::vector<mcp::Violation>& violations);
[[nodiscard]] HttpAnswer broken_rule(const std::string& pointer, const std::string& message);
// `part`: of a job that is there.
enum class Missing { job, part, path };
[[nodiscard]] HttpAnswer not_found(Missing missing, const std::string& error);
[[nodiscard]] HttpAnswer no_such_job(const std::string& job_id);
[[nodiscard]] HttpAnswer wrong_method(const std::string& allowed);

// "/kernel/io/args/0" as the manual writes a place: "kernel -> io -> args -> 0".
[[nodiscard]] std::string field_path(const std::string& pointer);

}  // namespace assay::rest
