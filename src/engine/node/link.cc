#include "engine/node/link.h"

#include <stdexcept>
#include <utility>

namespace assay::node::link {

using frames::Frame;
using nlohmann::json;

Frame plain(const char* type) {
  Frame frame;
  frame.body = {{"type", type}};
  return frame;
}

Frame run(const Order& order, int attempt) {
  Frame frame = plain("run");
  frame.body["job_id"] = order.job_id;
  frame.body["attempt"] = attempt;
  frame.body["kind"] = order.kind;
  frame.body["request"] = order.request;
  frame.body["client"] = order.client;
  return frame;
}

Order decode_run(const Frame& frame) {
  return {.job_id = frame.body.at("job_id").get<std::string>(),
          .kind = frame.body.at("kind").get<std::string>(),
          .request = frame.body.at("request"),
          .client = frame.body.value("client", "")};
}

Frame stage(const std::string& job_id, int attempt, std::uint64_t seq, const StageEvent& event) {
  Frame frame = plain("stage");
  frame.body["job_id"] = job_id;
  frame.body["attempt"] = attempt;
  frame.body["seq"] = seq;
  frame.body["record"] = job::to_json(event.record);
  json artifacts = json::array();
  for (const auto& artifact : event.artifacts) {
    artifacts.push_back({{"name", artifact.name},
                         {"media_type", artifact.media_type},
                         {"bytes", artifact.bytes.size()}});
    frame.blob += artifact.bytes;
  }
  frame.body["artifacts"] = std::move(artifacts);
  frame.body["is_last"] = event.is_last;
  return frame;
}

StageEvent decode_stage(const Frame& frame) {
  StageEvent event{.record = job::stage_from_json(frame.body.at("record")),
                   .is_last = frame.body.at("is_last").get<bool>()};
  std::size_t at = 0;
  for (const auto& item : frame.body.at("artifacts")) {
    const auto bytes = item.at("bytes").get<std::size_t>();
    if (bytes > frame.blob.size() - at) throw std::runtime_error("artifact beyond its frame");
    event.artifacts.push_back({.name = item.at("name").get<std::string>(),
                               .media_type = item.at("media_type").get<std::string>(),
                               .bytes = frame.blob.substr(at, bytes)});
    at += bytes;
  }
  return event;
}

Frame conclusion(const std::string& job_id, int attempt, const Conclusion& conclusion) {
  Frame frame = plain("conclusion");
  frame.body["job_id"] = job_id;
  frame.body["attempt"] = attempt;
  frame.body["verdict"] = job::name(conclusion.verdict);
  frame.body["interrupted"] = conclusion.interrupted;
  frame.body["body"] = conclusion.body;
  return frame;
}

Conclusion decode_conclusion(const Frame& frame) {
  const auto text = frame.body.at("verdict").get<std::string>();
  const auto verdict = job::verdict_from(text);
  if (!verdict) throw std::runtime_error("unknown verdict '" + text + "' from the engine");
  return {.verdict = *verdict,
          .body = frame.body.at("body"),
          .interrupted = frame.body.at("interrupted").get<bool>()};
}

Frame ack(const std::string& job_id, std::uint64_t seq) {
  Frame frame = plain("ack");
  frame.body["job_id"] = job_id;
  frame.body["seq"] = seq;
  return frame;
}

Frame cancel(const std::string& job_id) {
  Frame frame = plain("cancel");
  frame.body["job_id"] = job_id;
  return frame;
}

}  // namespace assay::node::link
