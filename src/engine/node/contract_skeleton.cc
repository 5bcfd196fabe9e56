#include "engine/node/contract_skeleton.h"

#include <optional>

#include "engine/contract/dtype.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr int kGuessedSize = 1024;
constexpr unsigned kGuessedBlock = 256;

const json* choose(const json& kernels, const std::string& wanted) {
  for (const auto& kernel : kernels) {
    if (wanted.empty() || kernel.at("name") == wanted || kernel.at("symbol") == wanted) {
      return &kernel;
    }
  }
  return nullptr;
}

// "float const*" → "float".
std::string pointee(std::string type) {
  for (const std::string_view word : {"const", "volatile"}) {
    for (auto at = type.find(word); at != std::string::npos; at = type.find(word)) {
      type.erase(at, word.size());
    }
  }
  std::string out;
  for (const char c : type) {
    if (c == '*' || (c == ' ' && (out.empty() || out.back() == ' '))) continue;
    out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

bool is_integer_argument(const json& argument) {
  if (argument.at("pointer").get<bool>() || !argument.at("type").is_string()) return false;
  const auto type = contract::parse_c_type(pointee(argument.at("type").get<std::string>()));
  return type && contract::is_integer(*type);
}

// The name of the first integer argument: what tensors are most often as long as.
std::string size_name(const json& arguments) {
  for (const auto& argument : arguments) {
    if (is_integer_argument(argument)) return argument.at("name").get<std::string>();
  }
  return {};
}

class Skeleton {
 public:
  explicit Skeleton(const json& kernel)
      : kernel_(kernel), size_(size_name(kernel.at("arguments"))) {}

  json build() {
    json args = json::array();
    for (const auto& argument : kernel_.at("arguments")) {
      auto one = argument.at("pointer").get<bool>() ? tensor(argument)
                 : is_texture(argument)             ? texture(argument)
                                                    : scalar(argument);
      if (!one) return {{"kernel", kernel_.at("name")}, {"io", nullptr}, {"guesses", guesses_}};
      args.push_back(std::move(*one));
    }
    const json length = size_.empty() ? json(kGuessedSize) : json(size_);
    const auto bound = kernel_.value("max_threads", 0U);
    const unsigned block = bound == 0 || bound > kGuessedBlock ? kGuessedBlock : bound;
    guesses_.push_back("launch: one thread per element in blocks of " + std::to_string(block));
    return {{"kernel", kernel_.at("name")},
            {"io",
             {{"args", std::move(args)},
              {"launch",
               {{"grid", {{"x", "ceildiv(" + text(length) + ", " + std::to_string(block) + ")"}}},
                {"block", {{"x", block}}}}}}},
            {"guesses", guesses_}};
  }

 private:
  static std::string text(const json& length) {
    return length.is_string() ? length.get<std::string>() : length.dump();
  }

  std::optional<json> impossible(const json& argument, const std::string& why) {
    guesses_ = json::array({argument.at("name").get<std::string>() + ": " + why});
    return std::nullopt;
  }

  std::optional<json> tensor(const json& argument) {
    const auto name = argument.at("name").get<std::string>();
    const auto type = argument.at("type").get<std::string>();
    const bool one_level = type.find('*') == type.rfind('*');
    const auto dtype = contract::parse_c_type(pointee(type));
    const bool untyped = pointee(type) == "void";
    if (!one_level || (!dtype && !untyped)) {
      return impossible(argument, "a contract has no element type for '" + type + "'");
    }
    const json length = size_.empty() ? json(kGuessedSize) : json(size_);
    json spec = {{"shape", json::array({length})},
                 {"dtype", contract::name(dtype.value_or(contract::DType::uint8))}};
    guesses_.push_back(name + ": shape [" + text(length) + "]");
    const bool read_only = argument.value("read_only", false);
    if (read_only) {
      spec["init"] = {{"kind", "randn"}};
    } else {
      guesses_.push_back(name + ": role output (\"inout\" if the kernel reads it first)");
    }
    return json{{"name", name},
                {"type", "tensor"},
                {"role", read_only ? "input" : "output"},
                {"tensor_spec", std::move(spec)}};
  }

  static bool is_texture(const json& argument) {
    return argument.at("type").is_string() && argument.at("type") == "cudaTextureObject_t";
  }

  json texture(const json& argument) {
    const auto name = argument.at("name").get<std::string>();
    guesses_.push_back(name + ": a texture of two dimensions, float32[64, 64], all as by default");
    return {
        {"name", name},
        {"type", "tensor"},
        {"role", "input"},
        {"tensor_spec", {{"shape", {64, 64}}, {"dtype", "float32"}, {"init", {{"kind", "randn"}}}}},
        {"texture", json::object()}};
  }

  std::optional<json> scalar(const json& argument) {
    const auto name = argument.at("name").get<std::string>();
    if (!argument.at("type").is_string()) return impossible(argument, "its C type is not known");
    const auto type = argument.at("type").get<std::string>();
    const auto dtype = contract::parse_c_type(pointee(type));
    json out = {{"name", name}};
    if (dtype == contract::DType::boolean) {
      out.update({{"type", "bool"}, {"value", true}});
    } else if (dtype && contract::is_integer(*dtype)) {
      const bool small = contract::size_bytes(*dtype) == 1;
      out.update({{"type", "int"}, {"value", small ? 1 : kGuessedSize}});
    } else if (dtype && contract::is_floating(*dtype)) {
      out.update({{"type", "float"}, {"value", 1.0}});
    } else {
      return impossible(argument, "a contract has no scalar of type '" + type + "'");
    }
    guesses_.push_back(name + ": value " + out.at("value").dump());
    return out;
  }

  const json& kernel_;
  const std::string size_;
  json guesses_ = json::array();
};

}  // namespace

json contract_skeleton(const json& kernels, const std::string& wanted) {
  const json* kernel = choose(kernels, wanted);
  return kernel == nullptr ? json(nullptr) : Skeleton(*kernel).build();
}

json contract_draft(const json& kernels, const std::string& wanted, const json& inferred) {
  if (!inferred.is_object()) return contract_skeleton(kernels, wanted);
  // Of a template that nothing instantiates the compiler knows nothing to set against it.
  const json* compiled = choose(kernels, inferred.at("kernel").get<std::string>());
  const bool agrees = inferred.at("io").is_null() || compiled == nullptr ||
                      compiled->at("arguments").size() == inferred.at("io").at("args").size();
  return agrees ? inferred : contract_skeleton(kernels, wanted);
}

}  // namespace assay::node
