#include "engine/node/triton_claim.h"

#include "engine/node/claimed_value.h"
#include "engine/node/passed_argument.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kToldNameBytes = 200;
constexpr std::size_t kMaxMetasBytes = 4096;
constexpr std::size_t kToldWhyBytes = 200;
constexpr std::size_t kToldChoices = 16;
constexpr std::size_t kToldWarnings = 16;
constexpr std::size_t kToldWarningBytes = 1000;
constexpr std::size_t kMostEntryBytes = 16U << 10;
// Of what a list has.
constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kMostNeeds = 64;

// No address is in it and no seed: other contents compile to the same program.
json asked_tensor(const contract::Arg& arg) {
  return {{"name", arg.name},
          {"type", "tensor"},
          {"role", contract::name(arg.role)},
          {"shape", arg.tensor_spec->shape},
          {"dtype", contract::name(arg.tensor_spec->dtype)}};
}

json told_metas(const json& metas) {
  return metas.is_object() && metas.dump().size() <= kMaxMetasBytes ? metas : json::object();
}

json told_choices(const json& list) {
  json told = json::array();
  for (const auto& one : list) {
    if (told.size() == kToldChoices) break;
    told.push_back({{"metas", told_metas(one.at("metas"))},
                    {"num_warps", claimed_small_count(one.at("num_warps"))},
                    {"num_stages", claimed_small_count(one.at("num_stages"))}});
  }
  return told;
}

json told_passed_over(const json& list) {
  json told = json::array();
  for (const auto& one : list) {
    if (told.size() == kToldChoices) break;
    told.push_back({{"choice", claimed_count(one.at("choice"))},
                    {"why", one.at("why").get<std::string>().substr(0, kToldWhyBytes)}});
  }
  return told;
}

}  // namespace

json triton_request(const KernelSource& source, int arch, const std::string& file) {
  const contract::LaunchConfig launch = source.contract.launch.value_or(contract::LaunchConfig{});
  json body = {{"type", "compile"},
               {"source", source.source},
               {"file", file},
               {"kernel_name", source.kernel_name},
               {"arch", arch},
               {"num_warps", launch.num_warps.value_or(0)},
               {"num_stages", launch.num_stages.value_or(0)},
               {"arguments", json::array()}};
  for (const auto& arg : source.contract.args) {
    json item = arg.is_tensor() ? asked_tensor(arg) : passed_scalar(arg);
    item["is_meta"] = arg.is_meta;
    body["arguments"].push_back(std::move(item));
  }
  return body;
}

TritonClaim triton_claim(const json& body, std::string ptx) {
  TritonClaim claim{.ptx = std::move(ptx),
                    .entry = body.at("entry").get<std::string>(),
                    .kernel = body.at("kernel").get<std::string>().substr(0, kToldNameBytes),
                    .scratch = claimed_count(body.at("scratch")),
                    .num_warps = claimed_small_count(body.at("num_warps")),
                    .num_stages = claimed_small_count(body.at("num_stages")),
                    .shared_bytes = claimed_count(body.at("shared_bytes")),
                    .metas = told_metas(body.at("metas")),
                    .configurations = claimed_count(body.at("configurations")),
                    .chosen = claimed_count(body.at("chosen")),
                    .choices = told_choices(body.at("choices")),
                    .passed_over = told_passed_over(body.at("passed_over")),
                    .has_hooks = body.at("hooks").get<bool>(),
                    .triton = body.at("triton").get<std::string>().substr(0, kToldNameBytes)};
  if (claim.entry.size() > kMostEntryBytes) throw ImplausibleClaim("a name without end");
  for (const json& index : claimed_list(body.at("passed"), kMostArguments)) {
    claim.passed.push_back(claimed_count(index));
  }
  for (const json& need : claimed_list(body.at("needs"), kMostNeeds)) {
    claim.needs.push_back(claimed_text(need, kToldNameBytes));
  }
  for (const json& warning : body.at("warnings")) {
    if (claim.warnings.size() == kToldWarnings) break;
    claim.warnings.push_back(
        {{"code", "source"}, {"message", claimed_text(warning.at("message"), kToldWarningBytes)}});
  }
  return claim;
}

}  // namespace assay::node
