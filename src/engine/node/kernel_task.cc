#include "engine/node/kernel_task.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

// Whether a kernel may have what stands there, the server has checked.
contract::Contract parsed_contract(const json& document) {
  auto parsed = contract::parse(document, "", {.open_grid = true});
  auto* contract = std::get_if<contract::Parsed>(&parsed);
  if (contract == nullptr)
    throw std::runtime_error("the engine refuses a contract the server took");
  return std::move(contract->contract);
}

KernelSource decode_source(const json& body) {
  KernelSource source{
      .source = body.at("source").get<std::string>(),
      .kernel_type = body.at("kernel_type").get<std::string>(),
      .kernel_name = body.value("kernel_name", std::string()),
      .compiler_options = body.value("compiler_options", std::vector<std::string>{}),
      .name_expressions = body.value("name_expressions", std::vector<std::string>{})};
  source.function_name = body.value("function_name", std::string());
  source.class_name = body.value("class_name", std::string());
  source.method_name = body.value("method_name", std::string());
  source.entry_point = body.value("entry_point", std::string());
  source.python = body.value("python", std::string());
  if (!body.contains("contract")) return source;  // compile_kernel and torch need none
  source.contract = parsed_contract(body.at("contract"));
  source.has_contract = true;
  source.takes_kernels_contract = body.value("takes_kernels_io", false);
  return source;
}

Listing decode_listing(const json& body, const KernelSource& kernel) {
  Listing listing{.arch = body.at("arch").get<std::string>()};
  if (body.contains("draft")) listing.draft = body.at("draft");
  const auto& launch = kernel.contract.launch;
  if (!launch) return listing;
  if (launch->block) listing.block_threads = launch->block->x * launch->block->y * launch->block->z;
  listing.dynamic_shared_bytes = launch->shared_mem_bytes.value_or(0);
  return listing;
}

// One whose seeds are no secret, and one of which nobody knows the inputs.
constexpr std::uint32_t kLeastJudgedTrials = 2;

// What a Python source's inputs are, only the reference says.
bool may_draw_inputs(const KernelSource& kernel) {
  return kernel.is_python() || draws_inputs(kernel.contract);
}

std::optional<double> optional_number(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::optional<Until> until_from(std::string_view text) {
  if (text == "compiled") return Until::compiled;
  if (text == "validated") return Until::validated;
  if (text == "timed") return Until::timed;
  if (text == "profiled") return Until::profiled;
  return std::nullopt;
}

KernelTask decode_kernel_task(const json& request) {
  KernelTask task{.kernel = decode_source(request.at("kernel"))};
  if (request.contains("ref_kernel")) task.reference = decode_source(request.at("ref_kernel"));
  if (request.contains("expected")) task.expected = request.at("expected");
  if (const auto names = request.find("names"); names != request.end()) {
    task.judged_name = names->at("judged");
    task.reference_name = names->at("reference");
  }
  if (request.contains("listing")) {
    task.listing = decode_listing(request.at("listing"), task.kernel);
    task.until = Until::compiled;
    return task;
  }
  const json& options = request.at("options");
  task.device = options.value("device", std::string("auto"));
  task.num_trials = options.at("num_trials");
  task.may_add_trials = options.value("may_add_trials", false);
  task.num_warmup = options.at("num_warmup");
  task.timing_method = timing_method_from(options.value("timing_method", std::string()));
  task.validation_trials = options.at("validation_trials");
  if (task.reference && may_draw_inputs(task.kernel)) {
    task.validation_trials = std::max(task.validation_trials, kLeastJudgedTrials);
  }
  task.timeout =
      std::chrono::milliseconds(std::llround(1000 * options.at("timeout").get<double>()));
  task.checks = options.value("checks", std::vector<std::string>{});
  if (const auto blocks = options.find("check_blocks");
      blocks != options.end() && !blocks->is_null()) {
    task.check_blocks = *blocks;
  }
  task.in_double = options.value("oracle", std::string("reference")) == "float64";
  task.atol = optional_number(options, "atol");
  task.rtol = optional_number(options, "rtol");
  const auto until = until_from(options.at("until").get<std::string>());
  if (!until) throw std::runtime_error("unknown value of until");
  task.until = *until;
  task.metrics_sections = options.value("device_metrics", std::vector<std::string>());
  if (const auto hidden = request.find("generalise"); hidden != request.end()) {
    task.generalise = true;
    task.hidden_note = hidden->at("note");
    for (const json& one : hidden->at("tasks")) {
      task.hidden.push_back({.changed = one.at("changed"),
                             .contract = parsed_contract(one.at("contract")),
                             .reference_contract = parsed_contract(one.at("reference_contract"))});
    }
  }
  return task;
}

bool is_among(const std::vector<std::string>& checks, std::string_view wanted) {
  return std::find(checks.begin(), checks.end(), wanted) != checks.end();
}

}  // namespace assay::node
