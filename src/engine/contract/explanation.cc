#include "engine/contract/explanation.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace assay::contract {
namespace {

using nlohmann::json;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

// "normal, seed 1, mean 0, std 2"
std::string init_text(const json& init) {
  std::string text = init.at("kind").get<std::string>();
  for (const auto& [key, value] : init.items()) {
    if (key == "kind") continue;
    text += (text.find(' ') == std::string::npos ? " with " : ", ") + key + " " +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string contents(const Arg& arg, const json& spec) {
  if (spec.contains("data")) return "holds the given data";
  if (spec.contains("init")) {
    return (arg.is_read() ? "filled with " : "pre-filled with ") + init_text(spec.at("init"));
  }
  return "poisoned before each run, so that what is not written shows";
}

std::string role_text(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::output:
      return "output, compared";
    case Role::inout:
      return "read and written, compared";
  }
  return {};
}

// "a texture (tex2D) of 4 channels, linear filter, address clamp and wrap, normalized coordinates"
std::string texture_text(const Texture& texture, const TensorSpec& spec) {
  const bool is_linear_memory = extent_of(texture, spec).height == 0;
  std::string text = is_linear_memory ? "a texture (tex1Dfetch)" : "a texture (tex2D)";
  if (texture.channels > 1) text += " of " + std::to_string(texture.channels) + " channels";
  if (!is_linear_memory) {
    text += ", " + std::string(name(texture.filter)) + " filter, address " +
            std::string(name(texture.address[0]));
    if (texture.address[1] != texture.address[0]) {
      text += " and " + std::string(name(texture.address[1]));
    }
    text += texture.normalized_coords ? ", normalized coordinates" : ", coordinates in texels";
  }
  if (texture.read == TextureRead::normalized_float) text += ", read as normalized floats";
  return text;
}

std::string tensor_line(const Arg& arg, const json& document) {
  const TensorSpec& spec = *arg.tensor_spec;
  std::string text = arg.name + ": " + std::string(name(spec.dtype)) + shape_text(spec.shape) +
                     ", " + role_text(arg.role) + ", " + readable_bytes(spec.buffer_bytes()) +
                     ", " + contents(arg, document.at("tensor_spec"));
  if (arg.texture) text += ", " + texture_text(*arg.texture, spec);
  if (spec.strides) text += ", strides " + shape_text(*spec.strides);
  if (spec.tolerance) text += ", its own tolerance";
  return text;
}

std::string scalar_line(const Arg& arg, const json& document) {
  const json& value = document.at("value");
  return arg.name + ": " + std::string(name(arg.type)) + " " +
         (value.is_string() ? value.get<std::string>() : value.dump()) +
         (arg.is_meta  ? ", fixed at compile time"
          : arg.c_type ? ", passed as " + std::string(name(*arg.c_type))
                       : ", passed in the width the kernel's signature says");
}

std::string dim_text(const LaunchDim& dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

// Axes that are still open as they are written.
std::string grid_text(const LaunchConfig& launch) {
  const std::array extents{launch.grid->x, launch.grid->y, launch.grid->z};
  std::string text;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::string& open = launch.open_grid[i];
    text += (i > 0 ? "x" : "") + (open.empty() ? std::to_string(extents[i]) : "(" + open + ")");
  }
  return text;
}

std::string launch_line(const LaunchConfig& launch) {
  std::string text = "launch:";
  if (launch.grid) text += " grid " + grid_text(launch);
  if (launch.block) text += " block " + dim_text(*launch.block);
  if (launch.grid && launch.block && launch.open_grid == decltype(launch.open_grid){}) {
    const auto count = [](const LaunchDim& dim) { return std::uint64_t{dim.x} * dim.y * dim.z; };
    text += " (" + std::to_string(count(*launch.grid) * count(*launch.block)) + " threads)";
  }
  if (launch.shared_mem_bytes) {
    text += " shared memory " + std::to_string(*launch.shared_mem_bytes) + " B";
  }
  if (launch.num_warps) text += " warps " + std::to_string(*launch.num_warps);
  if (launch.num_stages) text += " stages " + std::to_string(*launch.num_stages);
  return text;
}

}  // namespace

std::string readable_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, kUnits[unit]);
  return text;
}

std::vector<std::string> explain(const Contract& contract) {
  const json document = to_json(contract);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const Arg& arg = contract.args[i];
    const json& written = document.at("args").at(i);
    lines.push_back(arg.tensor_spec ? tensor_line(arg, written) : scalar_line(arg, written));
  }
  if (contract.launch) lines.push_back(launch_line(*contract.launch));
  return lines;
}

json bytes_of(const Contract& contract) {
  json args = json::object();
  std::uint64_t total = 0;
  for (const Arg& arg : contract.args) {
    if (!arg.tensor_spec) continue;
    args[arg.name] = arg.tensor_spec->buffer_bytes();
    total += arg.tensor_spec->buffer_bytes();
  }
  return {{"total", total}, {"args", std::move(args)}};
}

}  // namespace assay::contract
