#include "engine/contract/fixed_contents.h"

#include <algorithm>
#include <cmath>

namespace assay::contract {
namespace {

constexpr std::size_t kNamed = 6;

std::optional<TensorInit> between(double one, double other) {
  if (!std::isfinite(one) || !std::isfinite(other) || one == other) return std::nullopt;
  return TensorInit{.kind = InitKind::uniform,
                    .low = Number(std::min(one, other)),
                    .high = Number(std::max(one, other))};
}

// Nothing grows or changes its sign: what is a share, a scale or a variance stays one.
std::optional<TensorInit> below(double value) {
  return value == 0 ? between(0, 0.5) : between(value / 2, value);
}

std::optional<TensorInit> other_init(const TensorInit& init, const TensorSpec& spec) {
  const auto number = [](const std::optional<Number>& given, double otherwise) {
    return given ? to_double(*given) : otherwise;
  };
  switch (init.kind) {
    case InitKind::zeros:
      return below(0);
    case InitKind::ones:
      return below(1);
    case InitKind::full:
      return below(number(init.fill_value, 0));
    case InitKind::arange: {
      const double start = number(init.start, 0);
      const auto last = static_cast<double>(spec.shape.empty() ? 1 : spec.shape.back());
      return between(start, start + number(init.step, 1) * last);
    }
    default:
      return std::nullopt;
  }
}

std::optional<TensorData> reversed(const TensorData& data, std::size_t element_bytes) {
  TensorData out{.compression = data.compression};
  out.bytes.reserve(data.bytes.size());
  for (std::size_t at = data.bytes.size(); at >= element_bytes; at -= element_bytes) {
    out.bytes.append(data.bytes, at - element_bytes, element_bytes);
  }
  if (out.bytes == data.bytes) return std::nullopt;
  return out;
}

}  // namespace

std::optional<TensorSpec> other_contents(const Arg& arg) {
  const bool may_vary = arg.is_tensor() && arg.role == Role::input && !arg.texture &&
                        is_floating(arg.tensor_spec->dtype) && arg.tensor_spec->elements() > 0;
  if (!may_vary) return std::nullopt;
  TensorSpec spec = *arg.tensor_spec;
  if (spec.data) {
    spec.data = reversed(*spec.data, size_bytes(spec.dtype));
    return spec.data ? std::optional(std::move(spec)) : std::nullopt;
  }
  if (!spec.init) return std::nullopt;
  spec.init = other_init(*spec.init, spec);
  return spec.init ? std::optional(std::move(spec)) : std::nullopt;
}

std::vector<std::size_t> fixed_inputs(const Contract& contract) {
  std::vector<std::size_t> fixed;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    if (other_contents(contract.args[i])) fixed.push_back(i);
  }
  return fixed;
}

bool works_on_contents(const Contract& contract) {
  return std::any_of(contract.args.begin(), contract.args.end(), [](const Arg& arg) {
    if (!arg.is_tensor() || arg.role == Role::input) return false;
    return arg.role == Role::inout || arg.tensor_spec->init || arg.tensor_spec->data;
  });
}

std::string fixed_in_words(const Contract& contract, const std::vector<std::size_t>& arguments) {
  std::string text;
  for (std::size_t i = 0; i < std::min(arguments.size(), kNamed); ++i) {
    const Arg& arg = contract.args.at(arguments[i]);
    const TensorSpec& spec = *arg.tensor_spec;
    const std::string what = spec.data || !spec.init ? "data" : std::string(name(spec.init->kind));
    text += (i == 0 ? "'" : ", '") + arg.name.substr(0, 100) + "' (" + what + ")";
  }
  return arguments.size() > kNamed ? text + ", …" : text;
}

}  // namespace assay::contract
