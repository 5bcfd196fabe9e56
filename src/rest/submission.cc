#include "rest/submission.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "mcp/codec.h"
#include "tools/old_arguments.h"

namespace assay::rest {
namespace {

using mcp::Json;
using mcp::http::HttpRequest;

// What the manual's /compare takes where nothing is said; its oldest form had less time, too.
constexpr double kComparisonTolerance = 1e-2;
constexpr int kLegacyTimeoutS = 30;
constexpr double kMaxWaitS = 3600;

struct Bound {
  const char* name;
  double least;
  double most;
  const char* too_little;
  const char* too_much;
};
constexpr Bound kBounds[] = {
    {"num_trials", 1, 10'000, "num_trials must be at least 1", "num_trials cannot exceed 10000"},
    {"timeout", 5, 600, "timeout must be at least 5 seconds", "timeout cannot exceed 600 seconds"}};

std::optional<HttpAnswer> out_of_bounds(const Json& body) {
  for (const Bound& bound : kBounds) {
    const auto found = body.find(bound.name);
    if (found == body.end() || !found->is_number()) continue;
    const double value = found->get<double>();
    const std::string pointer = std::string("/") + bound.name;
    if (value < bound.least) return broken_rule(pointer, bound.too_little);
    if (value > bound.most) return broken_rule(pointer, bound.too_much);
  }
  return std::nullopt;
}

bool lacks_contract(const Json& kernel) {
  if (!kernel.is_object() || kernel.value("kernel_type", Json()) != "triton") return false;
  const auto io = kernel.find("io");
  return io == kernel.end() || io->is_null();
}

std::optional<HttpAnswer> lacks_what_triton_needs(const Json& body) {
  for (const char* name : {"kernel", "custom_kernel", "ref_kernel"})
    if (body.contains(name) && lacks_contract(body.at(name)))
      return broken_rule(std::string("/") + name + "/io",
                         "Triton kernels require io_contract to be specified");
  return std::nullopt;
}

std::optional<Json> object_in(const std::string& text, HttpAnswer& refusal) {
  auto decoded = mcp::Decoder().decode_json(text);
  if (const auto* fault = std::get_if<mcp::JsonFault>(&decoded)) {
    refusal = invalid_request({{.keyword = "json_invalid", .message = fault->message}});
    return std::nullopt;
  }
  Json& value = std::get<Json>(decoded);
  if (value.is_object()) return std::move(value);
  refusal = invalid_request({{.keyword = "type", .message = "the body must be a JSON object"}});
  return std::nullopt;
}

// False: not a number of seconds that anybody may wait.
bool read_wait(const HttpRequest& request, std::optional<double>& wait_s) {
  const auto text = request.parameter("wait");
  if (!text) return true;
  double seconds = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (text->empty() || fault != std::errc() || end != text->data() + text->size()) return false;
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kMaxWaitS) return false;
  wait_s = seconds;
  return true;
}

void take_defaults(Json& body, bool is_oldest_form) {
  if (is_oldest_form) body.emplace("timeout", kLegacyTimeoutS);
  body.emplace("atol", kComparisonTolerance);
  body.emplace("rtol", kComparisonTolerance);
}

}  // namespace

std::variant<Submission, HttpAnswer> read_submission(const HttpRequest& request,
                                                     Judgement judgement,
                                                     const mcp::OrderedJson& known) {
  Submission submission;
  if (!read_wait(request, submission.wait_s))
    return broken_rule("/wait", "wait must be a number of seconds from 0 to 3600");
  HttpAnswer refusal;
  auto body = object_in(request.body, refusal);
  if (!body) return refusal;
  if (judgement == Judgement::comparison) {
    const bool is_oldest_form = body->contains("ref_code") || body->contains("custom_code");
    take_defaults(*body, is_oldest_form);
    *body = tools::from_old_compare(std::move(*body));
  } else {
    *body = tools::from_old_evaluate(std::move(*body));
  }
  if (!body->is_object())
    return invalid_request({{.keyword = "type", .message = "the body must be a JSON object"}});
  // The manual's clients read whole logs; nobody pays by the token here.
  if (const auto detail = body->find("detail"); detail == body->end() || detail->is_null())
    (*body)["detail"] = "full";
  if (auto refused = out_of_bounds(*body)) return std::move(*refused);
  if (auto refused = lacks_what_triton_needs(*body)) return std::move(*refused);
  for (auto& [name, value] : body->items()) {
    // How long to wait is said in the query; the report is whole.
    if (known.at("properties").contains(name) && name != "wait_s")
      submission.arguments[name] = std::move(value);
    else
      submission.ignored.push_back(name);
  }
  return submission;
}

}  // namespace assay::rest
