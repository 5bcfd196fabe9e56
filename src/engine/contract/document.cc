// A Contract as its canonical document, the inverse of parse().
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/contract/payload.h"

namespace assay::contract {
namespace {

using nlohmann::json;

// JSON has no NaN and no infinity; the contract spells them as text.
json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

json number(const Number& value) {
  return std::visit(
      [](auto v) -> json {
        if constexpr (std::is_same_v<decltype(v), double>) {
          return number(v);
        } else {
          return v;
        }
      },
      value);
}

template <typename T>
void put(json& object, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<T, Number> || std::is_same_v<T, double>) {
    object[key] = number(*value);
  } else {
    object[key] = *value;
  }
}

json document(const TensorInit& init) {
  json object{{"kind", name(init.kind)}};
  put(object, "seed", init.seed);
  put(object, "mean", init.mean);
  put(object, "std", init.std);
  put(object, "low", init.low);
  put(object, "high", init.high);
  put(object, "fill_value", init.fill_value);
  put(object, "start", init.start);
  put(object, "step", init.step);
  return object;
}

json document(const TensorSpec& spec) {
  json object{{"shape", spec.shape}, {"dtype", name(spec.dtype)}};
  put(object, "strides", spec.strides);
  if (spec.init) object["init"] = document(*spec.init);
  if (spec.data) {
    object["data"] = {{"data_b64", encode_payload(spec.data->bytes, spec.data->compression)},
                      {"dtype", name(spec.dtype)},
                      {"shape", spec.shape},
                      {"compress", name(spec.data->compression)}};
  }
  if (spec.tolerance) {
    json tolerance = json::object();
    put(tolerance, "atol", spec.tolerance->atol);
    put(tolerance, "rtol", spec.tolerance->rtol);
    object["tolerance"] = std::move(tolerance);
  }
  return object;
}

json document(const ScalarValue& value) {
  return std::visit(
      [](const auto& v) -> json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, double>) {
          return number(v);
        } else {
          return v;
        }
      },
      value);
}

// In full: what is not said would have to be known.
json document(const Texture& texture) {
  json address = json::array();
  for (const TextureAddress each : texture.address) address.push_back(name(each));
  return {{"filter", name(texture.filter)},
          {"address", std::move(address)},
          {"normalized_coords", texture.normalized_coords},
          {"read", name(texture.read)},
          {"channels", texture.channels}};
}

json document(const Arg& arg) {
  json object{{"name", arg.name}, {"type", name(arg.type)}};
  if (arg.tensor_spec) {
    object["tensor_spec"] = document(*arg.tensor_spec);
    object["role"] = name(arg.role);
    if (arg.texture) object["texture"] = document(*arg.texture);
    return object;
  }
  object["value"] = document(arg.value);
  if (arg.c_type) object["c_type"] = name(*arg.c_type);
  if (arg.is_meta) object["is_meta"] = true;
  return object;
}

constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};

json document(const LaunchDim& dim) { return {{"x", dim.x}, {"y", dim.y}, {"z", dim.z}}; }

json document(const LaunchConfig& launch) {
  json object = json::object();
  if (launch.grid) object["grid"] = document(*launch.grid);
  for (std::size_t i = 0; launch.grid && i < kAxes.size(); ++i) {
    if (!launch.open_grid[i].empty()) object["grid"][kAxes[i]] = launch.open_grid[i];
  }
  if (launch.block) object["block"] = document(*launch.block);
  put(object, "shared_mem_bytes", launch.shared_mem_bytes);
  put(object, "num_warps", launch.num_warps);
  put(object, "num_stages", launch.num_stages);
  return object;
}

}  // namespace

json to_json(const Contract& contract) {
  json object{{"args", json::array()}};
  if (!contract.sizes.empty()) object["sizes"] = contract.sizes;
  for (const Arg& arg : contract.args) object["args"].push_back(document(arg));
  if (contract.launch) object["launch"] = document(*contract.launch);
  return object;
}

}  // namespace assay::contract
