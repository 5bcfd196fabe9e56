#include "plans/optest/kernel_case.h"

#include <fstream>
#include <iterator>

#include "engine/contract/contract.h"
#include "engine/contract/payload.h"
#include "plans/optest/numbers.h"
#include "plans/optest/tensor_file.h"

namespace assay::optest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string base64(std::span<const std::byte> bytes) {
  return contract::encode_payload({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                  contract::Compression::none);
}

std::string read_source(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw FileFault("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

Judged cannot(std::string details) { return {.checked = false, .details = std::move(details)}; }

// What the referee said of each output, as a plan's metrics.
json metrics_of(const json& outputs) {
  json metrics = json::object();
  for (const auto& output : outputs) {
    json one = json::object();
    for (const auto& [from, to] : {std::pair{"elements", "elements"},
                                   {"mismatches", "mismatches"},
                                   {"max_abs_error", "max_abs"},
                                   {"max_rel_error", "max_rel"}}) {
      if (output.contains(from)) one[to] = output.at(from);
    }
    metrics[output.at("name").get<std::string>()] = std::move(one);
  }
  return metrics;
}

}  // namespace

KernelCase::KernelCase(const Backend& backend, const Case& one, const ShapeEntry& shapes,
                       const Resolved& resolved, const fs::path& plan_folder)
    : backend_(backend),
      case_(one),
      shapes_(shapes),
      resolved_(resolved),
      plan_folder_(plan_folder) {}

// input0_size, input0_dim0, …: so that a scalar or a grid can follow the shape.
json KernelCase::sizes() const {
  json sizes = backend_.kernel->io.value("sizes", json::object());
  const auto add = [&](const std::string& stem, const std::vector<Shape>& shapes) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = stem + std::to_string(i);
      sizes[name + "_size"] = shapes[i].elements();
      for (std::size_t d = 0; d < shapes[i].extents.size(); ++d) {
        sizes[name + "_dim" + std::to_string(d)] = shapes[i].extents[d];
      }
    }
  };
  add("input", shapes_.inputs);
  add("output", shapes_.outputs);
  return sizes;
}

// Tensors are the plan's, in order: its inputs for those that are read, its outputs for the others.
void KernelCase::put_tensor(json& argument, std::size_t& inputs, std::size_t& outputs) const {
  json& spec = argument["tensor_spec"];
  if (!spec.is_object()) spec = json::object();
  if (argument.value("role", "input") == "output") {
    if (outputs >= shapes_.outputs.size())
      throw ReferenceFault("kernel.io has more outputs than the case");
    spec["shape"] = shapes_.outputs[outputs].extents;
    spec["dtype"] = contract::name(case_.assertion.output_dtypes[outputs]);
    spec["tolerance"] = {{"atol", case_.assertion.atol}, {"rtol", case_.assertion.rtol}};
    ++outputs;
    return;
  }
  if (inputs >= shapes_.inputs.size())
    throw ReferenceFault("kernel.io has more inputs than the case");
  spec["shape"] = shapes_.inputs[inputs].extents;
  spec["dtype"] = contract::name(case_.dtypes[inputs]);
  spec["data"] = {{"data_b64", base64(read_tensor(resolved_.inputs[inputs], case_.dtypes[inputs],
                                                  shapes_.inputs[inputs]))},
                  {"compress", "none"}};
  spec.erase("init");
  ++inputs;
}

json KernelCase::contract() const {
  json io = backend_.kernel->io;
  io["sizes"] = sizes();
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  if (!io.contains("args") || !io.at("args").is_array())
    throw ReferenceFault("kernel.io needs args");
  for (auto& argument : io.at("args")) {
    if (!argument.is_object()) throw ReferenceFault("kernel.io.args holds mappings");
    if (argument.value("type", "tensor") != "tensor") continue;
    argument["type"] = "tensor";
    put_tensor(argument, inputs, outputs);
  }
  if (inputs != shapes_.inputs.size() || outputs != shapes_.outputs.size()) {
    throw ReferenceFault("kernel.io has " + std::to_string(inputs) + " inputs and " +
                         std::to_string(outputs) + " outputs, the case " +
                         std::to_string(shapes_.inputs.size()) + " and " +
                         std::to_string(shapes_.outputs.size()));
  }
  auto parsed = contract::parse(io, "kernel.io");
  if (const auto* refused = std::get_if<contract::Refused>(&parsed)) {
    std::string text;
    for (const auto& one : refused->violations)
      text += (text.empty() ? "" : "; ") + one.pointer + ": " + one.message;
    throw ReferenceFault(text);
  }
  return contract::to_json(std::get<contract::Parsed>(parsed).contract);
}

json KernelCase::request() const {
  const KernelOfPlan& kernel = *backend_.kernel;
  json order = {{"kernel",
                 {{"source", read_source((plan_folder_ / kernel.source).lexically_normal())},
                  {"kernel_type", kernel.kernel_type},
                  {"kernel_name", kernel.kernel_name},
                  {"contract", contract()}}},
                {"names", {{"judged", "kernel"}, {"reference", "ref_kernel"}}},
                {"options",
                 {{"num_trials", 1},
                  {"num_warmup", 1},
                  {"validation_trials", 2},
                  {"timeout", backend_.timeout_s},
                  {"device", kernel.device},
                  {"until", "validated"}}}};
  const auto golden = golden_of(case_, shapes_, resolved_);
  std::size_t output = 0;
  for (const auto& argument : order.at("kernel").at("contract").at("args")) {
    if (argument.value("role", "") != "output" || golden.empty()) continue;
    order["expected"][argument.at("name").get<std::string>()] = base64(golden[output++]);
  }
  return order;
}

Judged KernelCase::judge(const KernelJudge& kernels, const std::stop_token& stop,
                         json& more) const {
  if (!kernels) return cannot("there is no engine here that judges kernels");
  if (backend_.kernel->kernel_type != "cuda") {
    return cannot("kernel type '" + backend_.kernel->kernel_type +
                  "' is not run by plans: their kernels are `cuda`");
  }
  if (case_.assertion.is_custom()) {
    return cannot("an assay backend needs a builtin assertion: its outputs never leave the engine");
  }
  if (case_.assertion.metric != "max_abs") {
    return cannot("an assay backend judges element by element (metric max_abs) only");
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < shapes_.inputs.size(); ++i) {
    bytes += shapes_.inputs[i].elements() * contract::size_bytes(case_.dtypes[i]);
  }
  for (std::size_t i = 0; i < shapes_.outputs.size(); ++i) {
    bytes += shapes_.outputs[i].elements() * contract::size_bytes(case_.assertion.output_dtypes[i]);
  }
  if (bytes > kMaxKernelBytes) {
    return cannot("the tensors of an assay backend travel in its order: " + std::to_string(bytes) +
                  " bytes, at most " + std::to_string(kMaxKernelBytes));
  }
  json order;
  try {
    order = request();
  } catch (const std::runtime_error& fault) {
    return {.is_error = true, .details = fault.what()};
  }
  more["attempts"] = 1;
  const node::Conclusion conclusion = kernels(order, stop);
  more["verdict"] = job::name(conclusion.verdict);
  more["trust"] = conclusion.body.value("trust", json(nullptr));
  more["device"] =
      conclusion.body.value("environment", json::object()).value("device", json(nullptr));
  more["kernel_source"] = (plan_folder_ / backend_.kernel->source).lexically_normal().string();
  Judged judged{.ok = conclusion.verdict == job::Verdict::passed,
                .checked = order.contains("expected"),
                .details = conclusion.body.value("summary", "")};
  const json validated = conclusion.body.value("validated", json::object());
  judged.metrics = metrics_of(validated.value("outputs", json::array()));
  if (conclusion.verdict == job::Verdict::unsupported) return cannot(judged.details);
  judged.is_error = conclusion.verdict == job::Verdict::engine_fault ||
                    conclusion.verdict == job::Verdict::cancelled;
  if (!judged.checked) {
    judged.warnings.emplace_back(
        "MISTRUSTED: builtin.identity has no params.golden, so the kernel was only run");
    judged.checked = !judged.ok;
  }
  return judged;
}

}  // namespace assay::optest
