// The body of a POST, made into the arguments of the tool that does the work: the manual's bounds
// in the manual's words, its defaults, its legacy forms. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mcp/http/http_message.h"
#include "mcp/json.h"
#include "rest/answers.h"

namespace assay::rest {

enum class Judgement { evaluation, comparison };

struct Submission {
  mcp::Json arguments = mcp::Json::object();
  // Top-level members that the interface does not know. The manual ignores them; the answer says
  // so.
  std::vector<std::string> ignored{};
  // Nothing: until the job has ended.
  std::optional<double> wait_s{};
};

// `known`: the input schema of the tool, whose properties are the members that are not ignored.
[[nodiscard]] std::variant<Submission, HttpAnswer> read_submission(
    const mcp::http::HttpRequest& request, Judgement judgement, const mcp::OrderedJson& known);

}  // namespace assay::rest
