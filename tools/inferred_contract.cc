#include "tools/inferred_contract.h"

#include "engine/contract/dtype.h"
#include "engine/source/instances.h"
#include "engine/source/nearest_name.h"
#include "engine/source/reach.h"
#include "tools/element.h"
#include "tools/inferred_extents.h"
#include "tools/inferred_instance.h"
#include "tools/inferred_launch.h"
#include "tools/inferred_sizes.h"
#include "tools/inferred_texture.h"

namespace assay::tools {
namespace {

using contract::DType;
using nlohmann::json;
using source::Kernel;
using source::Launch;
using source::Parameter;
using source::Signature;

constexpr std::int64_t kMostElements = 1 << 28;
constexpr std::int64_t kMostSharedElements = 200'000;

class Inference {
 public:
  Inference(const source::Unit& unit, const Kernel& kernel, std::vector<Launch> launches,
            const std::vector<source::Instance>& instances, std::vector<std::string> wanted,
            const std::map<std::string, std::int64_t>& sizes)
      : unit_(unit),
        kernel_(kernel),
        signature_(kernel.signature),
        usage_(source::usage(unit, kernel)) {
    for (Launch& launch : launches) {
      const auto colon = launch.kernel.rfind(':');
      const auto base =
          colon == std::string::npos ? launch.kernel : launch.kernel.substr(colon + 1);
      if (!launch_ && base == signature_.name) launch_ = std::move(launch);
    }
    instance_ = infer_instance(unit, signature_, usage_, launch_, instances, std::move(wanted),
                               out_.assumptions);
    sizes_ = infer_sizes(signature_, usage_, instance_, launch_, {sizes.begin(), sizes.end()},
                         out_.assumptions);
  }

  std::variant<InferredContract, NotInferred> run() {
    out_.document = {{"args", json::array()}};
    launch();
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const Parameter& parameter = signature_.parameters[i];
      std::string name = parameter.name.empty() ? "arg_" + std::to_string(i) : parameter.name;
      const auto reason = parameter.is_pointer() ? tensor(parameter, name, usage_.parameters[i])
                          : is_texture_object(parameter) ? texture(name)
                                                         : scalar(parameter, name);
      if (!reason.empty()) return NotInferred{reason, signature_.qualified_name};
    }
    out_.kernel_name = signature_.qualified_name;
    if (signature_.is_template()) out_.instance = instance_.name(signature_);
    return std::move(out_);
  }

 private:
  void assume(std::string text) { out_.assumptions.push_back(std::move(text)); }

  // A size as the contract says it. Template values are no scalars of the contract: their numbers
  // are put in.
  [[nodiscard]] json extent(const std::string& text) const {
    std::string out;
    for (const auto& token : source::lex(text)) {
      const bool is_symbol = instance_.numbers.contains(token.text);
      out += is_symbol ? std::to_string(sizes_.known.find(token.text)->second)
                       : std::string(token.text);
    }
    const bool is_number =
        out.size() < 10 && out.find_first_not_of("0123456789") == std::string::npos;
    return is_number && !out.empty() ? json(std::stol(out)) : json(std::move(out));
  }

  // How far the other accesses reach, if that is further than the shape that one of them tells.
  [[nodiscard]] std::optional<source::Interval> beyond(const source::PointerUse& use,
                                                       const std::string& name) const {
    if (use.indexes.size() < 2) return std::nullopt;
    std::int64_t elements = 1;
    for (const auto& extent : use.shape) {
      const auto value = size_value(extent, sizes_.known);
      if (!value || __builtin_mul_overflow(elements, *value, &elements)) return std::nullopt;
    }
    auto reached = reach_->at_least(name);
    return reached && reached->high >= elements ? reached : std::nullopt;
  }

  std::string tensor(const Parameter& parameter, const std::string& name,
                     const source::PointerUse& use) {
    if (parameter.pointer_depth > 1) {
      return "'" + name + "' is a pointer to pointers: a contract holds plain arrays";
    }
    auto element = element_of(instance_.type(parameter.type));
    if (!element) {
      assume(name + ": the layout of " + parameter.type + " is not known; taken as bytes");
      element = Element{DType::uint8, 1};
    }
    json shape = json::array();
    const bool is_told = !use.shape.empty() && !reach_->has_offset(name);
    const auto reached = is_told ? beyond(use, name) : reach_->of(name);
    if (reached && reached->high < kMostElements) {
      shape.push_back(extent(extent_text(*reached)));
    } else {
      for (const auto& size : use.shape) shape.push_back(extent(size));
    }
    if (shape.empty()) {
      shape.push_back(extent(sizes_.total()));
      assume(name + ": shape [" + sizes_.total() + "], because no bound of its index was seen");
    }
    if (element->width > 1) shape.push_back(element->width);
    const std::string role = role_of(parameter, name, use);
    json spec = {{"shape", std::move(shape)}, {"dtype", contract::name(element->dtype)}};
    if (role != "output") spec["init"] = init_for(*element);
    if (role == "output" && use.is_accumulated) spec["init"] = {{"kind", "zeros"}};
    out_.document["args"].push_back(
        {{"name", name}, {"type", "tensor"}, {"tensor_spec", std::move(spec)}, {"role", role}});
    return {};
  }

  std::string texture(const std::string& name) {
    const InferredTexture seen = infer_texture(unit_, kernel_, name);
    if (!seen.unsupported.empty()) {
      return "'" + name + "' is read by " + seen.unsupported +
             ": a contract has textures for tex1Dfetch and tex2D";
    }
    assume(name + ": a texture of " + std::string(contract::name(seen.element.dtype)) +
           (seen.is_fetched ? "" : ", of two dimensions because no fetch was seen") +
           "; its size, filter, address, normalized_coords and read are not told by the kernel");
    out_.document["args"].push_back(
        texture_argument(seen, name, extent(sizes_.total()), init_for(seen.element)));
    return {};
  }

  std::string role_of(const Parameter& parameter, const std::string& name,
                      const source::PointerUse& use) {
    if (parameter.is_const) return "input";
    if (use.is_written && use.is_read) return "inout";
    if (use.is_written && use.is_passed_on) return "inout";
    if (use.is_written) return "output";
    if (use.is_passed_on) {
      assume(name + ": inout, because it is handed to a function that was not looked into");
      return "inout";
    }
    if (use.is_read) return "input";
    if (kernel_.signature.has_body) {
      assume(name + ": input, because the body does not use it");
      return "input";
    }
    assume(name + ": output, because it is not const and no body was seen");
    return "output";
  }

  json init_for(const Element& element) {
    const int seed = ++seeds_;
    // Integers are often indexes: small ones stay inside most arrays.
    if (contract::is_integer(element.dtype)) {
      return {{"kind", "uniform"}, {"low", 0}, {"high", 15}, {"seed", seed}};
    }
    return {{"kind", "randn"}, {"seed", seed}};
  }

  [[nodiscard]] std::size_t index_of(const Parameter& parameter) const {
    return static_cast<std::size_t>(&parameter - signature_.parameters.data());
  }

  std::string scalar(const Parameter& parameter, const std::string& name) {
    const auto element = element_of(instance_.type(parameter.type));
    if (parameter.is_pack || parameter.is_reference || !element || element->width > 1) {
      return "'" + name + "' is passed as " + parameter.spelled +
             ", by value: a contract holds arrays and plain numbers";
    }
    json arg = {{"name", name}};
    if (element->dtype == DType::boolean) {
      arg.update({{"type", "bool"}, {"value", true}});
    } else if (contract::is_integer(element->dtype)) {
      const auto known = sizes_.known.find(name);
      arg.update({{"type", "int"},
                  {"value", known == sizes_.known.end() ? 1 : known->second},
                  {"c_type", contract::name(element->dtype)}});
    } else if (contract::is_floating(element->dtype)) {
      const auto passed = launch_ ? constant_real(*launch_, index_of(parameter)) : std::nullopt;
      const double value = passed.value_or(says(name, "eps") ? 1e-5 : 0.5);
      arg.update({{"type", "float"}, {"value", value}, {"c_type", contract::name(element->dtype)}});
      assume(name + " = " + json(value).dump() + (passed ? ", as the host code passes it" : ""));
    } else {
      return "'" + name + "' is a complex number by value, which a contract cannot hold";
    }
    out_.document["args"].push_back(std::move(arg));
    return {};
  }

  void launch() {
    std::optional<json> found;
    if (launch_) found = launch_from_host(*launch_, signature_, sizes_.known);
    if (launch_ && !found)
      assume("the launch in the host code uses values that are not known here");
    if (!found) {
      found = launch_from_body(usage_, signature_, sizes_.total(), sizes_.dimensions, sizes_.known,
                               out_.assumptions);
      assume("grid and block from the thread coordinates in the body");
    }
    reach_.emplace(unit_, kernel_, launch_extents(*found, sizes_.known),
                   [this](std::string_view size) -> std::optional<std::int64_t> {
                     const auto known = sizes_.known.find(size);
                     return known == sizes_.known.end() ? std::nullopt
                                                        : std::optional(known->second);
                   });
    if (!found->contains("shared_mem_bytes") && usage_.has_dynamic_shared) {
      (*found)["shared_mem_bytes"] = shared_bytes();
    }
    for (auto& [key, value] : found->items()) {
      if (value.is_string()) value = extent(value.get<std::string>());
      if (!value.is_array()) continue;
      for (json& size : value) size = extent(size.get<std::string>());
    }
    out_.document["launch"] = std::move(*found);
  }

  // What extern __shared__ is indexed up to.
  std::string shared_bytes() {
    constexpr const char* kOtherwise = "16384";
    const auto shared = source::dynamic_shared(unit_.tokens, kernel_.body);
    const auto element = shared ? element_of(shared->type) : std::nullopt;
    const auto reached = shared ? reach_->of(shared->name) : std::nullopt;
    if (!element || !reached || reached->high >= kMostSharedElements) {
      assume(std::string(kOtherwise) +
             " bytes of dynamic shared memory, because no bound of its index was seen");
      return kOtherwise;
    }
    const auto bytes =
        static_cast<std::int64_t>(contract::size_bytes(element->dtype)) * element->width;
    assume("dynamic shared memory for " + std::to_string(reached->high + 1) + " elements");
    return "(" + extent_text(*reached) + ")*" + std::to_string(bytes);
  }

  const source::Unit& unit_;
  const Kernel& kernel_;
  const Signature& signature_;
  source::Usage usage_;
  std::optional<Launch> launch_{};
  InferredInstance instance_{};
  InferredSizes sizes_{};
  std::optional<source::Reach> reach_{};  // made with the launch
  int seeds_ = 0;
  InferredContract out_{};
};

// {"float", "4"} of "ops::scale<float, 4>".
std::vector<std::string> arguments_in(std::string_view kernel_name) {
  const auto angle = kernel_name.find('<');
  if (angle == std::string_view::npos) return {};
  const auto tokens = source::lex(kernel_name.substr(angle));
  const std::size_t close = source::closing_angle(tokens, 0, tokens.size());
  std::vector<std::string> arguments;
  for (const auto part : source::split_at_commas(tokens, 1, close)) {
    arguments.push_back(source::spelled(tokens, part.begin, part.end));
  }
  return arguments;
}

}  // namespace

std::variant<InferredContract, NotInferred> infer_contract(
    std::string_view source, std::string_view kernel_name,
    const std::map<std::string, std::int64_t>& sizes) {
  const source::Unit unit = source::preprocess(source);
  const source::Kernels found = source::find_kernels(unit);
  if (found.kernels.empty())
    return NotInferred{"No kernels found in source: it needs a `__global__` function"};
  const std::string_view base = kernel_name.substr(0, kernel_name.find('<'));
  const Kernel* kernel = nullptr;
  for (const auto& candidate : found.kernels) {
    const auto& signature = candidate.signature;
    if (base.empty() || signature.name == base || signature.qualified_name == base) {
      kernel = &candidate;
      break;
    }
  }
  if (kernel == nullptr) {
    std::string names;
    std::vector<std::string> each;
    for (const auto& candidate : found.kernels) {
      each.push_back(candidate.signature.qualified_name);
      names += (names.empty() ? "" : ", ") + each.back();
    }
    return NotInferred{"Kernel '" + std::string(kernel_name) + "' not found. Available: [" + names +
                       "]" + source::nearest_name(kernel_name, each)};
  }
  return Inference(unit, *kernel, source::find_launches(unit), found.instances,
                   arguments_in(kernel_name), sizes)
      .run();
}

}  // namespace assay::tools
