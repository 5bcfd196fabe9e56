#include "engine/contract/builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace assay::contract {
namespace {

using nlohmann::json;

struct Method {
  std::string_view name{};
  std::vector<std::string_view> parameters{};  // in the order of positional arguments
};

const std::vector<Method>& methods() {
  static const std::vector<Method> list{{"add_input_tensor", {"name", "tensor_spec", "texture"}},
                                        {"add_output_tensor", {"name", "shape", "dtype"}},
                                        {"add_inout_tensor", {"name", "tensor_spec"}},
                                        {"add_scalar", {"name", "type", "value"}},
                                        {"add_meta_param", {"name", "value"}},
                                        {"set_launch_config", {"launch_config"}},
                                        {"set_grid", {"x", "y", "z"}},
                                        {"set_block", {"x", "y", "z"}},
                                        {"set_num_warps", {"num_warps"}},
                                        {"set_num_stages", {"num_stages"}},
                                        {"set_shared_mem_bytes", {"shared_mem_bytes"}},
                                        {"set_size", {"name", "value"}},
                                        {"build", {}}};
  return list;
}

const std::vector<Method>& helpers() {
  static const std::vector<Method> list{
      {"create_tensor_spec", {"shape", "dtype", "init_kind", "seed"}},
      {"create_randn_spec", {"shape", "dtype", "seed", "mean", "std"}},
      {"create_uniform_spec", {"shape", "dtype", "seed", "low", "high"}},
      {"create_zeros_spec", {"shape", "dtype"}},
      {"create_ones_spec", {"shape", "dtype"}},
      {"create_full_spec", {"shape", "fill_value", "dtype"}},
      {"create_arange_spec", {"shape", "dtype", "start", "step"}}};
  return list;
}

const Method* find(const std::vector<Method>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Method& method) { return method.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::string names(const std::vector<Method>& list) {
  std::string text;
  for (const Method& method : list) text += (text.empty() ? "" : ", ") + std::string(method.name);
  return text;
}

// A call with its arguments by name.
struct Call {
  const Method* method = nullptr;
  json arguments = json::object();
};

class Builder {
 public:
  explicit Builder(std::string_view base) : base_(base) {}

  std::variant<json, std::vector<Violation>> run(const json& steps) {
    if (!steps.is_array()) {
      complain("", "steps must be an array of calls");
    } else {
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::string pointer = "/" + std::to_string(i);
        if (is_built_) complain(pointer, "stands behind build, which ends the contract");
        step(steps[i], pointer);
      }
    }
    if (!violations_.empty()) return std::move(violations_);
    return std::move(document_);
  }

 private:
  void complain(const std::string& pointer, std::string message) {
    violations_.push_back({std::string(base_) + pointer, std::move(message)});
  }

  // The name of the method and what it is given, in whichever way it is written.
  std::optional<Call> read_call(const json& written, const std::vector<Method>& list,
                                const std::string& pointer) {
    if (written.is_string()) return named_call(written, json::object(), list, pointer);
    if (!written.is_object()) {
      complain(
          pointer,
          R"(must be a call such as {"method": "add_scalar", "name": "n", "type": "int", "value": 4})");
      return std::nullopt;
    }
    for (const char* key : {"method", "helper", "function", "step", "op"}) {
      if (!written.contains(key) || !written.at(key).is_string()) continue;
      json rest = written;
      rest.erase(key);
      return named_call(written.at(key), std::move(rest), list, pointer);
    }
    if (written.size() == 1) {
      return named_call(written.begin().key(), written.begin().value(), list, pointer);
    }
    complain(pointer, "names no method; known are " + names(list));
    return std::nullopt;
  }

  std::optional<Call> named_call(const std::string& name, json given,
                                 const std::vector<Method>& list, const std::string& pointer) {
    Call call{.method = find(list, name)};
    if (call.method == nullptr) {
      complain(pointer, "unknown method '" + name + "'; known are " + names(list));
      return std::nullopt;
    }
    if (given.is_null()) given = json::object();
    json positional = json::array();
    if (given.is_array()) {
      positional = std::move(given);
    } else if (given.is_object()) {
      take_named(given, call, positional);
    } else {
      positional.push_back(std::move(given));
    }
    const auto& parameters = call.method->parameters;
    if (positional.size() > parameters.size()) {
      complain(pointer, name + " takes at most " + std::to_string(parameters.size()) +
                            " positional arguments");
      return std::nullopt;
    }
    for (std::size_t i = 0; i < positional.size(); ++i) {
      call.arguments[std::string(parameters[i])] = positional[i];
    }
    return call;
  }

  static void take_named(const json& given, Call& call, json& positional) {
    for (const auto& [key, value] : given.items()) {
      if (key == "args" && value.is_array()) {
        positional = value;
      } else if ((key == "kwargs" || key == "args") && value.is_object()) {
        call.arguments.update(value);
      } else if (!value.is_null()) {
        call.arguments[key] = value;
      }
    }
  }

  void step(const json& written, const std::string& pointer) {
    const auto call = read_call(written, methods(), pointer);
    if (!call) return;
    const std::string_view name = call->method->name;
    const json& arguments = call->arguments;
    if (name == "build") {
      is_built_ = true;
      return;
    }
    if (name == "add_scalar" || name == "add_meta_param") {
      scalar(arguments, name == "add_meta_param", pointer);
    } else if (name.substr(0, 4) == "add_") {
      tensor(arguments, name, pointer);
    } else if (name == "set_launch_config") {
      launch_config(arguments, pointer);
    } else if (name == "set_grid" || name == "set_block") {
      if (!arguments.contains("x")) return complain(pointer, std::string(name) + " requires x");
      json& dim = document_["launch"][std::string(name.substr(4))];
      dim = {{"x", arguments.at("x")},
             {"y", arguments.value("y", json(1))},
             {"z", arguments.value("z", json(1))}};
    } else if (name == "set_size") {
      if (!need(arguments, {"name", "value"}, name, pointer)) return;
      if (!arguments.at("name").is_string()) return complain(pointer + "/name", "must be text");
      document_["sizes"][arguments.at("name").get<std::string>()] = arguments.at("value");
    } else {
      const std::string key(name.substr(4));
      if (need(arguments, {key}, name, pointer)) document_["launch"][key] = arguments.at(key);
    }
  }

  bool need(const json& arguments, const std::vector<std::string>& keys, std::string_view method,
            const std::string& pointer) {
    bool all = true;
    for (const std::string& key : keys) {
      if (arguments.contains(key)) continue;
      complain(pointer, std::string(method) + " requires " + key);
      all = false;
    }
    return all;
  }

  void scalar(const json& arguments, bool meta, const std::string& pointer) {
    json arg = arguments;
    if (meta) {
      if (!need(arg, {"name", "value"}, "add_meta_param", pointer)) return;
      if (!arg.contains("type")) arg["type"] = "int";
      arg["is_meta"] = true;
    } else if (!need(arg, {"name", "type", "value"}, "add_scalar", pointer)) {
      return;
    }
    document_["args"].push_back(std::move(arg));
  }

  void tensor(const json& arguments, std::string_view method, const std::string& pointer) {
    if (!need(arguments, {"name"}, method, pointer)) return;
    json spec;
    if (arguments.contains("tensor_spec")) {
      auto read = read_spec(arguments.at("tensor_spec"), pointer + "/tensor_spec");
      if (!read) return;
      spec = *std::move(read);
    } else {
      // add_output_tensor(name, shape, dtype), and what people write for the others.
      if (!need(arguments, {"shape"}, method, pointer)) return;
      json plain = arguments;
      plain.erase("name");
      plain.erase("texture");
      spec = tensor_spec(plain);
    }
    const std::string role(method.substr(4, method.find("_tensor") - 4));
    json arg = {{"name", arguments.at("name")},
                {"type", "tensor"},
                {"tensor_spec", std::move(spec)},
                {"role", role}};
    if (arguments.contains("texture")) arg["texture"] = arguments.at("texture");
    document_["args"].push_back(std::move(arg));
  }

  std::optional<json> read_spec(const json& written, const std::string& pointer) {
    const bool is_call =
        written.is_string() ||
        (written.is_object() && !written.contains("shape") && written.size() == 1) ||
        (written.is_object() && (written.contains("method") || written.contains("helper") ||
                                 written.contains("function")));
    if (!is_call) return written.is_object() ? tensor_spec(written) : written;
    const auto call = read_call(written, helpers(), pointer);
    if (!call || !need(call->arguments, {"shape"}, call->method->name, pointer))
      return std::nullopt;
    if (call->method->name == "create_full_spec" &&
        !need(call->arguments, {"fill_value"}, "create_full_spec", pointer)) {
      return std::nullopt;
    }
    return helper_spec(call->method->name, call->arguments);
  }

  // Members of a spec as they are; init_kind and its parameters made an init.
  static json tensor_spec(const json& given) {
    json spec = json::object();
    json init = json::object();
    for (const auto& [key, value] : given.items()) {
      if (key == "init_kind") {
        init["kind"] = value;
      } else if (is_parameter(key)) {
        init[key] = value;
      } else {
        spec[key] = value;
      }
    }
    if (!spec.contains("dtype")) spec["dtype"] = "float32";
    // As in create_tensor_spec: without a kind there is no init.
    if (init.contains("kind") && !spec.contains("init")) spec["init"] = std::move(init);
    return spec;
  }

  static bool is_parameter(std::string_view key) {
    return key == "seed" || key == "mean" || key == "std" || key == "low" || key == "high" ||
           key == "fill_value" || key == "start" || key == "step";
  }

  static json helper_spec(std::string_view helper, const json& arguments) {
    json given = arguments;
    if (helper == "create_tensor_spec") return tensor_spec(given);
    const std::string kind(helper.substr(7, helper.size() - 7 - 5));  // create_…_spec
    const std::string dtype_text = given.value("dtype", json("float32")).is_string()
                                       ? given.value("dtype", std::string("float32"))
                                       : std::string();
    const auto dtype = parse_dtype(dtype_text);
    const bool fractional = !dtype || is_floating(*dtype) || is_complex(*dtype);
    const auto otherwise = [&](const char* key, double value) {
      if (given.contains(key)) return;
      // Integer elements take the same defaults as integers.
      given[key] = fractional ? json(value) : json(static_cast<std::int64_t>(value));
    };
    if (kind == "randn" && fractional) {
      otherwise("mean", 0.0);
      otherwise("std", 1.0);
    } else if (kind == "uniform") {
      otherwise("low", 0.0);
      otherwise("high", 1.0);
    } else if (kind == "arange") {
      otherwise("start", 0.0);
      otherwise("step", 1.0);
    }
    given["init_kind"] = kind;
    return tensor_spec(given);
  }

  void launch_config(const json& arguments, const std::string& pointer) {
    const json& config =
        arguments.contains("launch_config") ? arguments.at("launch_config") : arguments;
    if (!config.is_object()) {
      return complain(pointer, "set_launch_config requires grid, block, num_warps or num_stages");
    }
    json& launch = document_["launch"];
    if (launch.is_null()) launch = json::object();
    for (const auto& [key, value] : config.items()) launch[key] = value;
  }

  std::string_view base_;
  bool is_built_ = false;
  json document_ = {{"args", json::array()}};
  std::vector<Violation> violations_{};
};

}  // namespace

std::variant<json, std::vector<Violation>> from_steps(const json& steps,
                                                      std::string_view base_pointer) {
  return Builder(base_pointer).run(steps);
}

}  // namespace assay::contract
