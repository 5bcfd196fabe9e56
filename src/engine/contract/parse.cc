// From a document to a Contract: arguments one by one, then what holds between them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/contract/launch_reading.h"
#include "engine/contract/reading.h"
#include "engine/contract/sizes.h"
#include "engine/contract/tensor_reading.h"
#include "engine/contract/texture_reading.h"

namespace assay::contract {
namespace {

constexpr std::size_t kMaxArgs = 1024;
constexpr std::size_t kMaxNameLength = 256;

std::optional<ScalarValue> read_integer(const Node& node, const Arg& arg, Sizes& sizes,
                                        Notes& notes) {
  ScalarValue value;
  if (node.json->is_number_unsigned() && !whole_number(*node.json)) {
    value = node.json->get<std::uint64_t>();
  } else {
    const auto number = sizes.resolve(node, "value of " + in_quotes(arg.name), notes);
    if (!number) return std::nullopt;
    value = *number;
  }
  if (!arg.c_type) return value;
  const Number number = std::holds_alternative<std::uint64_t>(value)
                            ? Number{std::get<std::uint64_t>(value)}
                            : Number{std::get<std::int64_t>(value)};
  if (!fits_integer(number, *arg.c_type)) {
    notes.violate(node.pointer, "value of " + in_quotes(arg.name) + " does not fit in " +
                                    std::string(name(*arg.c_type)));
    return std::nullopt;
  }
  return value;
}

std::optional<ScalarValue> read_floating(const Node& node, const Arg& arg, Sizes& sizes,
                                         Notes& notes) {
  const std::string what = "value of " + in_quotes(arg.name);
  std::optional<double> value;
  if (node.json->is_string()) {
    const std::string& text = node.json->get_ref<const std::string&>();
    value = parse_non_finite(text);
    if (!value && text.find('/') != text.npos) {
      // Expressions are integers; a silent 1/n = 0 would be a trap.
      notes.violate(node.pointer, what +
                                      ": division in a float value would be cut to an integer; "
                                      "write the number");
      return std::nullopt;
    }
    if (!value) {
      const auto integer = sizes.resolve(node, what, notes);
      if (integer) value = static_cast<double>(*integer);
    }
  } else {
    value = read_finite(node, what, notes);
  }
  if (!value) return std::nullopt;
  if (arg.c_type && !fits_floating(*value, *arg.c_type)) {
    notes.violate(node.pointer, what + " does not fit in " + std::string(name(*arg.c_type)));
    return std::nullopt;
  }
  return ScalarValue{*value};
}

std::optional<ScalarValue> read_value(const Node& node, const Arg& arg, Sizes& sizes,
                                      Notes& notes) {
  const std::string what = "value of " + in_quotes(arg.name);
  switch (arg.type) {
    case ArgType::integer:
      return read_integer(node, arg, sizes, notes);
    case ArgType::floating:
      return read_floating(node, arg, sizes, notes);
    case ArgType::boolean:
      if (const auto value = read_bool(node, what, notes)) return ScalarValue{*value};
      return std::nullopt;
    case ArgType::text:
      if (auto value = read_string(node, what, notes)) return ScalarValue{*std::move(value)};
      return std::nullopt;
    case ArgType::tensor:
      break;
  }
  return std::nullopt;
}

void read_c_type(const Node& node, Arg& arg, Notes& notes) {
  const auto text = read_string(node, "c_type", notes);
  if (!text) return;
  const auto type = parse_c_type(*text);
  if (!type) {
    notes.violate(node.pointer, "Unsupported c_type: " + in_quotes(*text) +
                                    "; write for example int32, uint64, size_t, float32, double");
    return;
  }
  const bool suits = arg.type == ArgType::integer    ? is_integer(*type)
                     : arg.type == ArgType::floating ? is_floating(*type)
                     : arg.type == ArgType::boolean  ? is_integer(*type) || *type == DType::boolean
                                                     : false;
  if (suits) {
    arg.c_type = type;
  } else {
    notes.violate(node.pointer, "c_type " + in_quotes(*text) +
                                    " does not suit an argument of type " +
                                    std::string(name(arg.type)));
  }
}

void read_scalar(const Node& node, Arg& arg, Sizes& sizes, Notes& notes) {
  if (const auto spec = node.member("tensor_spec")) {
    notes.warn(spec->pointer, "tensor_spec has no effect on a scalar");
  }
  if (const auto texture = node.member("texture")) {
    notes.violate(texture->pointer, "a texture is a tensor, not a scalar");
  }
  if (arg.role != Role::input) {
    notes.violate(node.child_pointer("role"),
                  "a scalar is always an input; to return a value, pass a "
                  "tensor of one element");
    arg.role = Role::input;
  }
  if (const auto c_type = node.member("c_type")) read_c_type(*c_type, arg, notes);
  const auto value = node.member("value");
  if (!value) {
    notes.violate(node.pointer, "Scalar argument '" + arg.name + "' requires value");
    return;
  }
  if (auto read = read_value(*value, arg, sizes, notes)) arg.value = *std::move(read);
}

void read_tensor(const Node& node, Arg& arg, Sizes& sizes, const ParseOptions& options,
                 Notes& notes) {
  if (const auto value = node.member("value")) {
    notes.warn(value->pointer,
               "value has no effect on a tensor; its contents are tensor_spec.init or "
               "tensor_spec.data");
  }
  if (const auto c_type = node.member("c_type")) {
    notes.warn(c_type->pointer, "c_type has no effect on a tensor; see tensor_spec.dtype");
  }
  if (arg.is_meta) {
    notes.violate(node.child_pointer("is_meta"), "a tensor cannot be a meta parameter");
  }
  const auto spec = node.member("tensor_spec");
  if (!spec) {
    notes.violate(node.pointer, "Tensor argument '" + arg.name + "' requires tensor_spec");
    return;
  }
  arg.tensor_spec = read_tensor_spec(*spec, arg.role, sizes, options, notes);
  if (const auto texture = node.member("texture")) arg.texture = read_texture(*texture, arg, notes);
  if (!arg.tensor_spec || !arg.is_read() || arg.tensor_spec->init || arg.tensor_spec->data) return;
  const std::string message = "Tensor argument '" + arg.name + "' (" + std::string(name(arg.role)) +
                              ") requires init or data";
  if (options.inputs_need_init) {
    notes.violate(spec->pointer, message);
  } else {
    notes.warn(spec->pointer, message + "; it is filled with randn");
    arg.tensor_spec->init = TensorInit{};
  }
}

std::string read_name(const Node& node, std::size_t index, Notes& notes) {
  const auto name_node = node.member("name");
  if (!name_node) {
    notes.violate(node.pointer, "Argument " + std::to_string(index) + " requires name");
    return "arg_" + std::to_string(index);
  }
  const auto text = read_string(*name_node, "name", notes);
  if (text && (text->empty() || text->size() > kMaxNameLength)) {
    notes.violate(name_node->pointer, "name must have 1 to 256 characters");
  }
  return text.value_or("arg_" + std::to_string(index));
}

std::optional<ArgType> read_type(const Node& node, const std::string& arg_name, Notes& notes) {
  const auto type_node = node.member("type");
  if (!type_node) {
    notes.violate(node.pointer, "Argument '" + arg_name + "' requires type");
    return std::nullopt;
  }
  const auto text = read_string(*type_node, "type", notes);
  const auto type = text ? parse_arg_type(*text) : std::nullopt;
  if (text && !type) {
    notes.violate(type_node->pointer, "Unsupported argument type: " + *text);
  }
  return type;
}

Role read_role(const Node& node, Notes& notes) {
  const auto role_node = node.member("role");
  if (!role_node) return Role::input;
  const auto text = read_string(*role_node, "role", notes);
  const auto role = text ? parse_role(*text) : std::nullopt;
  if (text && !role) {
    notes.violate(role_node->pointer,
                  "role must be input, output or inout, not " + in_quotes(*text));
  }
  return role.value_or(Role::input);
}

Arg read_arg(const Node& node, std::size_t index, Sizes& sizes, const ParseOptions& options,
             Notes& notes) {
  Arg arg;
  if (!expect_object(node, "argument", notes)) return arg;
  warn_unknown_keys(
      node,
      {.here = {"name", "type", "value", "c_type", "tensor_spec", "texture", "role", "is_meta"},
       .elsewhere = {"shape", "dtype", "strides", "init", "data", "tolerance"},
       .elsewhere_in = "tensor_spec"},
      notes);
  arg.name = read_name(node, index, notes);
  const auto type = read_type(node, arg.name, notes);
  arg.role = read_role(node, notes);
  if (const auto meta = node.member("is_meta")) {
    arg.is_meta = read_bool(*meta, "is_meta", notes).value_or(false);
  }
  if (!type) return arg;
  arg.type = *type;
  if (arg.is_tensor()) {
    read_tensor(node, arg, sizes, options, notes);
  } else {
    read_scalar(node, arg, sizes, notes);
  }
  return arg;
}

void check_together(const Node& args, const Contract& contract, const ParseOptions& options,
                    Notes& notes) {
  std::set<std::string_view> seen;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const Arg& arg = contract.args[i];
    if (!arg.name.empty() && !seen.insert(arg.name).second) {
      notes.violate(args.element(i).child_pointer("name"),
                    "duplicate argument name '" + arg.name + "'");
    }
    // Each is within max_bytes, and there are few: no overflow for any sensible limit.
    if (arg.tensor_spec) {
      const std::uint64_t bytes = arg.tensor_spec->buffer_bytes();
      total = bytes > std::numeric_limits<std::uint64_t>::max() - total ? ~0ULL : total + bytes;
    }
  }
  if (total > options.max_bytes) {
    notes.violate(args.pointer, "the tensors together take " + std::to_string(total) +
                                    " bytes, more than the limit of " +
                                    std::to_string(options.max_bytes) + " bytes");
  }
}

// Two inputs with the same seed, kind and shape hold the same values: swapped operands would go
// unseen.
void warn_identical_inputs(const Node& args, const Contract& contract, Notes& notes) {
  std::map<std::uint64_t, std::vector<std::size_t>> by_seed;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const Arg& arg = contract.args[i];
    if (!arg.tensor_spec || !arg.is_read() || arg.tensor_spec->data) continue;
    const auto& init = arg.tensor_spec->init;
    if (!init || !init->seed) continue;
    if (init->kind == InitKind::randn || init->kind == InitKind::uniform) {
      by_seed[*init->seed].push_back(i);
    }
  }
  for (const auto& [seed, indices] : by_seed) {
    for (std::size_t k = 1; k < indices.size(); ++k) {
      const Arg& first = contract.args[indices[0]];
      const Arg& second = contract.args[indices[k]];
      if (*first.tensor_spec != *second.tensor_spec) continue;
      notes.warn(args.element(indices[k]).pointer,
                 "'" + second.name + "' and '" + first.name +
                     "' share a seed and so hold the same values in the first trial: swapped "
                     "operands would go unseen there");
    }
  }
}

}  // namespace

std::variant<Parsed, Refused> parse(const nlohmann::json& document, std::string_view base_pointer,
                                    const ParseOptions& options) {
  Notes notes;
  Contract contract;
  const Node root{.json = &document, .pointer = std::string(base_pointer)};
  if (!expect_object(root, "IOContract", notes)) return Refused{.violations = notes.violations};
  // Old payloads carry `outputs`; it never meant anything.
  warn_unknown_keys(root, {.here = {"args", "launch", "sizes"}, .silent = {"outputs"}}, notes);
  Sizes sizes(root, notes);
  contract.sizes = sizes.named();
  const auto args = root.member("args");
  if (!args) {
    notes.violate(root.pointer, "IOContract requires args");
  } else if (expect_array(*args, "args", kMaxArgs, notes)) {
    for (std::size_t i = 0; i < args->json->size(); ++i) {
      contract.args.push_back(read_arg(args->element(i), i, sizes, options, notes));
    }
    check_together(*args, contract, options, notes);
    warn_identical_inputs(*args, contract, notes);
  }
  if (const auto launch = root.member("launch"))
    contract.launch = read_launch(*launch, options.open_grid, sizes, notes);
  if (!notes.violations.empty()) {
    return Refused{.violations = std::move(notes.violations),
                   .warnings = std::move(notes.warnings)};
  }
  return Parsed{.contract = std::move(contract), .warnings = std::move(notes.warnings)};
}

}  // namespace assay::contract
