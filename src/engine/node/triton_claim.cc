#include "engine/node/triton_claim.h"

#include "engine/node/passed_scalar.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kToldNameBytes = 200;
constexpr std::size_t kMaxMetasBytes = 4096;
constexpr std::size_t kToldWhyBytes = 200;
constexpr std::size_t kToldChoices = 16;

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
                    {"num_warps", one.at("num_warps").get<unsigned>()},
                    {"num_stages", one.at("num_stages").get<unsigned>()}});
  }
  return told;
}

json told_passed_over(const json& list) {
  json told = json::array();
  for (const auto& one : list) {
    if (told.size() == kToldChoices) break;
    told.push_back({{"choice", one.at("choice").get<std::size_t>()},
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
                    .passed = body.at("passed").get<std::vector<std::size_t>>(),
                    .scratch = body.at("scratch").get<std::size_t>(),
                    .num_warps = body.at("num_warps").get<unsigned>(),
                    .num_stages = body.at("num_stages").get<unsigned>(),
                    .shared_bytes = body.at("shared_bytes").get<std::uint64_t>(),
                    .metas = told_metas(body.at("metas")),
                    .configurations = body.at("configurations").get<std::size_t>(),
                    .chosen = body.at("chosen").get<std::size_t>(),
                    .choices = told_choices(body.at("choices")),
                    .passed_over = told_passed_over(body.at("passed_over")),
                    .has_hooks = body.at("hooks").get<bool>(),
                    .needs = body.at("needs").get<std::vector<std::string>>(),
                    .triton = body.at("triton").get<std::string>().substr(0, kToldNameBytes)};
  for (const auto& warning : body.at("warnings")) {
    claim.warnings.push_back(
        {{"code", "source"}, {"message", warning.at("message").get<std::string>()}});
  }
  return claim;
}

}  // namespace assay::node
