// The referee: the trusted process that makes inputs, holds expected outputs and compares. It runs
// no user code; a runner's output bytes are all it meets of one.
//
//   → {type: "open", contract, secret: [low, high], atol?, rtol?, expected?: {argument: base64}}
//   ← {type: "opened", total_bytes, placements: [{name, argument, offset, bytes}]}
//   → {type: "fill", trial, slot?}  ← {type: "filled"} + arena descriptor
//   → {type: "expect"}              ← {type: "expected", findings}
//   → {type: "check", slot?}        ← {type: "checked", ok, outputs, findings}
//   → {type: "weak_oracle"}      ← {type: "weak_oracle", warnings}
#include <memory>
#include <stdexcept>

#include "engine/runner/examination.h"
#include "engine/runner/role.h"

namespace assay::runner {
namespace {

using frames::Frame;
using nlohmann::json;

std::optional<double> optional_number(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

class Bench {
 public:
  Frame answer(const Frame& request) {
    const std::string verb = request.type();
    if (verb == "open") return open(request.body);
    if (!examination_) throw std::runtime_error("asked to " + verb + " before open");
    Frame reply;
    if (verb == "fill") {
      const auto& arena = examination_->fill(request.body.at("trial").get<std::uint32_t>(),
                                             request.body.value("slot", 0U));
      reply.body = {{"type", "filled"}};
      reply.descriptors.push_back(arena.descriptor().duplicate());
    } else if (verb == "expect") {
      reply.body = examination_->expect();
      reply.body["type"] = "expected";
    } else if (verb == "check") {
      examination_->select(request.body.value("slot", 0U));
      reply.body = examination_->check();
      reply.body["type"] = "checked";
    } else if (verb == "weak_oracle") {
      reply.body = {{"type", "weak_oracle"}, {"warnings", examination_->weak_oracle()}};
    } else {
      throw std::runtime_error("unknown request '" + verb + "'");
    }
    return reply;
  }

 private:
  Frame open(const json& body) {
    auto parsed = contract::parse(body.at("contract"));
    auto* contract = std::get_if<contract::Parsed>(&parsed);
    // The engine has parsed the same text: a refusal here is a disagreement between us.
    if (contract == nullptr) throw std::runtime_error("the contract was refused by the referee");
    examination_ = std::make_unique<Examination>(
        std::move(contract->contract),
        contract::ToleranceRequest{.atol = optional_number(body, "atol"),
                                   .rtol = optional_number(body, "rtol")},
        judge::Secret{.low = body.at("secret").at(0), .high = body.at("secret").at(1)});
    if (const auto expected = body.find("expected"); expected != body.end()) {
      examination_->expect_always(*expected);
    }
    Frame reply;
    json placements = json::array();
    for (const auto& placement : examination_->layout().placements) {
      placements.push_back({{"name", placement.name},
                            {"argument", placement.arg_index},
                            {"offset", placement.offset},
                            {"bytes", placement.bytes}});
    }
    reply.body = {{"type", "opened"},
                  {"total_bytes", examination_->layout().total_bytes},
                  {"placements", std::move(placements)}};
    return reply;
  }

  std::unique_ptr<Examination> examination_{};
};

}  // namespace

int serve_referee(frames::Channel& channel) {
  Bench bench;
  while (auto request = channel.receive()) channel.send(bench.answer(*request));
  return 0;
}

}  // namespace assay::runner
