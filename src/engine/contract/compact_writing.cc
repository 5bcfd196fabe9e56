// A contract as compact text, the inverse of from_compact().
#include <nlohmann/json.hpp>

#include "engine/contract/compact.h"
#include "engine/contract/expression.h"

namespace assay::contract {
namespace {

using nlohmann::json;

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Names that would read as something else are quoted; quotes are always right.
std::string name_text(const std::string& name) { return is_name(name) ? name : quoted(name); }

std::string number_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string list_text(const json& list) {
  std::string text;
  for (const auto& each : list) text += (text.empty() ? "" : ", ") + number_text(each);
  return text;
}

std::string init_text(const json& init) {
  std::string text;
  for (const auto& [key, value] : init.items()) {
    if (key != "kind") text += (text.empty() ? "" : ", ") + key + "=" + number_text(value);
  }
  return init.at("kind").get<std::string>() + (text.empty() ? "" : "(" + text + ")");
}

std::string tensor_text(const json& arg) {
  const json& spec = arg.at("tensor_spec");
  const auto role = arg.at("role").get<std::string>();
  std::string text = role == "input" ? "in " : role == "output" ? "out " : "inout ";
  text += name_text(arg.at("name")) + ": " + spec.at("dtype").get<std::string>() + "[" +
          list_text(spec.at("shape")) + "]";
  if (spec.contains("strides")) text += " strides=[" + list_text(spec.at("strides")) + "]";
  if (spec.contains("init")) text += " " + init_text(spec.at("init"));
  if (spec.contains("data")) {
    const json& data = spec.at("data");
    text +=
        " data(" + data.at("data_b64").dump() + ", " + data.at("compress").get<std::string>() + ")";
  }
  if (spec.contains("tolerance")) {
    for (const auto& [key, value] : spec.at("tolerance").items()) {
      text += " " + key + "=" + number_text(value);
    }
  }
  return text;
}

std::string scalar_text(const json& arg) {
  const auto type = arg.at("type").get<std::string>();
  std::string text = arg.value("is_meta", false) ? "meta " : "";
  text += name_text(arg.at("name")) + ": " + type;
  if (arg.contains("c_type")) text += " as " + arg.at("c_type").get<std::string>();
  const json& value = arg.at("value");
  return text + " = " + (type == "str" ? quoted(value) : number_text(value));
}

std::string dim_text(const json& dim) {
  return number_text(dim.at("x")) + ", " + number_text(dim.at("y")) + ", " +
         number_text(dim.at("z"));
}

}  // namespace

std::string to_compact(const Contract& contract) {
  const json document = to_json(contract);
  std::string text;
  for (const auto& [name, value] : contract.sizes) {
    text += "size " + name + " = " + std::to_string(value) + "\n";
  }
  for (const json& arg : document.at("args")) {
    text += (arg.contains("tensor_spec") ? tensor_text(arg) : scalar_text(arg)) + "\n";
  }
  if (!document.contains("launch")) return text;
  const json& launch = document.at("launch");
  if (launch.empty()) text += "launch\n";
  for (const char* key : {"grid", "block"}) {
    if (launch.contains(key)) text += std::string(key) + " " + dim_text(launch.at(key)) + "\n";
  }
  for (const char* key : {"shared_mem_bytes", "num_warps", "num_stages"}) {
    if (launch.contains(key)) text += std::string(key) + " " + number_text(launch.at(key)) + "\n";
  }
  return text;
}

}  // namespace assay::contract
