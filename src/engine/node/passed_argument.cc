#include "engine/node/passed_argument.h"

#include <bit>

namespace assay::node {

nlohmann::json passed_scalar(const contract::Arg& arg) {
  nlohmann::json item = {{"name", arg.name}, {"type", contract::name(arg.type)}};
  if (arg.c_type) item["c_type"] = contract::name(*arg.c_type);
  if (const auto* flag = std::get_if<bool>(&arg.value)) {
    item["bits"] = static_cast<std::uint64_t>(*flag ? 1 : 0);
  } else if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) {
    item["bits"] = std::bit_cast<std::uint64_t>(*integer);
  } else if (const auto* large = std::get_if<std::uint64_t>(&arg.value)) {
    item["bits"] = *large;
    item["unsigned"] = true;
  } else if (const auto* real = std::get_if<double>(&arg.value)) {
    item["bits"] = std::bit_cast<std::uint64_t>(*real);
  } else if (const auto* text = std::get_if<std::string>(&arg.value)) {
    item["text"] = *text;
  }
  return item;
}

nlohmann::json passed_tensor(const contract::Arg& arg, const TensorPlace& place) {
  const contract::TensorSpec& spec = *arg.tensor_spec;
  nlohmann::json item = {{"name", arg.name},
                         {"type", "tensor"},
                         {"role", contract::name(arg.role)},
                         {"offset", place.offset},
                         {"bytes", place.bytes},
                         {"shape", spec.shape},
                         {"dtype", contract::name(spec.dtype)}};
  if (spec.strides) item["strides"] = *spec.strides;
  return item;
}

}  // namespace assay::node
