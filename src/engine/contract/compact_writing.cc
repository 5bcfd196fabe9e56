// A contract as compact text, the inverse of from_compact(): the canonical document, in which the
// caller's own expressions stand again where theirs were.
#include <nlohmann/json.hpp>
#include <stdexcept>

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

// A name that JSON has a meaning for is no literal in parentheses.
std::string number_text(const json& value) {
  if (!value.is_string()) return value.dump();
  std::string text = value.get<std::string>();
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  const bool is_literal =
      text == "true" || text == "false" || text == "null" || text == "True" || text == "False";
  return is_literal ? "(" + text + ")" : text;
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

// texture(linear, wrap, mirror, normalized_coords, normalized_float, channels=4): the words alone
// say what each is.
std::string texture_text(const json& texture) {
  const json& address = texture.at("address");
  std::string text = " texture(" + texture.at("filter").get<std::string>();
  for (const json& each : address) text += ", " + each.get<std::string>();
  if (texture.at("normalized_coords").get<bool>()) text += ", normalized_coords";
  return text + ", " + texture.at("read").get<std::string>() +
         ", channels=" + texture.at("channels").dump() + ")";
}

std::string tensor_text(const json& arg) {
  const json& spec = arg.at("tensor_spec");
  const auto role = arg.at("role").get<std::string>();
  std::string text = role == "input" ? "in " : role == "output" ? "out " : "inout ";
  text += name_text(arg.at("name")) + ": " + spec.at("dtype").get<std::string>() + "[" +
          list_text(spec.at("shape")) + "]";
  if (spec.contains("strides")) text += " strides=[" + list_text(spec.at("strides")) + "]";
  if (arg.contains("texture")) text += texture_text(arg.at("texture"));
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

void restore(json& resolved, const json& written) {
  if (written.is_string()) resolved = written;
}

void restore_list(json& resolved, const json& written) {
  if (!written.is_array() || written.size() > resolved.size()) return;
  for (std::size_t i = 0; i < written.size(); ++i) restore(resolved[i], written[i]);
}

void restore_dim(json& resolved, const json& written) {
  static constexpr const char* kAxes[] = {"x", "y", "z"};
  restore(resolved["x"], written);
  for (std::size_t i = 0; i < 3; ++i) {
    if (written.is_object() && written.contains(kAxes[i]))
      restore(resolved[kAxes[i]], written.at(kAxes[i]));
    if (written.is_array() && i < written.size()) restore(resolved[kAxes[i]], written[i]);
  }
}

void restore_arg(json& resolved, const json& written) {
  if (resolved.at("type") == "int") return restore(resolved["value"], written.at("value"));
  if (!resolved.contains("tensor_spec")) return;
  for (const char* key : {"shape", "strides"}) {
    const json& spec = written.at("tensor_spec");
    if (resolved["tensor_spec"].contains(key) && spec.contains(key)) {
      restore_list(resolved["tensor_spec"][key], spec.at(key));
    }
  }
}

// The expressions of `written`, which `resolved` has the values of.
void restore_expressions(json& resolved, const json& written) {
  if (resolved.contains("sizes")) {
    for (auto& [name, value] : resolved["sizes"].items()) restore(value, written["sizes"][name]);
  }
  for (std::size_t i = 0; i < resolved["args"].size(); ++i) {
    restore_arg(resolved["args"][i], written.at("args").at(i));
  }
  if (!resolved.contains("launch")) return;
  for (auto& [key, value] : resolved["launch"].items()) {
    const json& launch = written.at("launch").at(key);
    value.is_object() ? restore_dim(value, launch) : restore(value, launch);
  }
}

std::string text_of(const json& document) {
  std::string text;
  const json sizes = document.value("sizes", json::object());
  for (const auto& [name, value] : sizes.items()) {
    text += "size " + name + " = " + number_text(value) + "\n";
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

}  // namespace

std::string to_compact(const Contract& contract) { return text_of(to_json(contract)); }

std::string to_compact(const json& document) {
  const auto parsed = parse(document);
  const auto* good = std::get_if<Parsed>(&parsed);
  if (good == nullptr) throw std::invalid_argument("to_compact: the document is no contract");
  json resolved = to_json(good->contract);
  restore_expressions(resolved, document);
  return text_of(resolved);
}

}  // namespace assay::contract
