#include "plans/optest/builtins.h"

#include <algorithm>
#include <array>

#include "plans/lower_case.h"
#include "plans/optest/builtin_operators.h"

namespace assay::optest {
namespace {

struct Entry {
  const char* name;
  Numbers (*compute)(const Call& call);
  std::array<const char*, 7> params;  // that it knows
};

constexpr std::array<Entry, 26> kEntries{{
    {"elementwise_add", elementwise_add, {}},
    {"elementwise_sub", elementwise_sub, {}},
    {"elementwise_mul", elementwise_mul, {}},
    {"elementwise_div", elementwise_div, {}},
    {"equal", compare_equal, {}},
    {"greater", compare_greater, {}},
    {"less", compare_less, {}},
    {"less_equal", compare_less_equal, {}},
    {"greater_equal", compare_greater_equal, {}},
    {"vector_dot", vector_dot, {}},
    {"vector_norm", vector_norm, {}},
    {"vector_sum", vector_sum, {}},
    {"gemm", gemm, {"trans_a", "trans_b", "alpha", "beta"}},
    {"matmul", matmul, {}},
    {"conv2d", conv2d, {"stride", "dilation", "groups", "padding"}},
    {"maxpool2d", maxpool2d, {"kernel_size", "stride", "padding", "dilation"}},
    {"avgpool2d", avgpool2d, {"kernel_size", "stride", "padding", "count_include_pad"}},
    {"relu", relu, {}},
    {"sigmoid", sigmoid, {}},
    {"tanh", hyperbolic_tangent, {}},
    {"leaky_relu", leaky_relu, {"alpha"}},
    {"sinh", hyperbolic_sine, {}},
    {"softmax", softmax, {"axis"}},
    {"reduce_sum", reduce_sum, {"axis", "keepdims"}},
    {"reduce_mean", reduce_mean, {"axis", "keepdims"}},
    {"broadcast_to", broadcast_to, {"shape"}},
}};
constexpr const char* kIdentity = "identity";
constexpr std::string_view kPrefix = "builtin.";

const Entry* entry(const std::string& name) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                  [&](const Entry& one) { return name == one.name; });
  return found == kEntries.end() ? nullptr : found;
}

void check_params(const Entry& builtin, const nlohmann::json& params) {
  for (const auto& [key, value] : params.items()) {
    const bool known =
        std::any_of(builtin.params.begin(), builtin.params.end(),
                    [&, &key = key](const char* one) { return one != nullptr && key == one; });
    if (!known) {
      throw ReferenceFault(std::string("builtin.") + builtin.name + " has no parameter '" + key +
                           "'");
    }
  }
}

// One kind of arithmetic for all: an integer beside a float is a float.
std::vector<Numbers> promoted(std::span<const Numbers> inputs) {
  std::vector<Numbers> all(inputs.begin(), inputs.end());
  const bool all_integral =
      std::all_of(all.begin(), all.end(), [](const Numbers& one) { return one.is_integral; });
  if (all_integral) return all;
  for (auto& one : all) {
    if (!one.is_integral) continue;
    Numbers real = zeros(one.shape, false);
    for (std::uint64_t i = 0; i < one.size(); ++i) real.reals[i] = one.real(i);
    one = std::move(real);
  }
  return all;
}

}  // namespace

std::vector<std::string> builtin_names() {
  std::vector<std::string> names{std::string(kPrefix) + kIdentity};
  for (const auto& one : kEntries) names.push_back(std::string(kPrefix) + one.name);
  return names;
}

std::optional<std::string> builtin_named(const std::string& text) {
  std::string lower = plans::lower_case(text);
  if (lower.starts_with(kPrefix)) lower.erase(0, kPrefix.size());
  if (lower == kIdentity || entry(lower) != nullptr) return lower;
  return std::nullopt;
}

Numbers compute_builtin(const std::string& name, std::span<const Numbers> inputs,
                        const nlohmann::json& params) {
  const auto known = builtin_named(name);
  const Entry* builtin = known ? entry(*known) : nullptr;
  if (builtin == nullptr) throw ReferenceFault("there is no builtin assertion '" + name + "'");
  check_params(*builtin, params);
  const std::vector<Numbers> all = promoted(inputs);
  return builtin->compute({.inputs = all, .params = params});
}

bool Call::is_integral() const { return !inputs.empty() && inputs[0].is_integral; }

bool Call::is_double() const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Numbers& one) { return one.is_double; });
}

void Call::want_inputs(std::size_t least, std::size_t most) const {
  if (inputs.size() >= least && inputs.size() <= most) return;
  throw ReferenceFault("takes " + std::to_string(least) +
                       (most != least ? " to " + std::to_string(most) : std::string()) +
                       " inputs, there are " + std::to_string(inputs.size()));
}

void Call::want_dimensions(std::size_t input, std::size_t dimensions) const {
  const Shape& shape = inputs[input].shape;
  if (shape.extents.size() == dimensions) return;
  throw ReferenceFault("input" + std::to_string(input) + " is " + shape.text() + ", it must have " +
                       std::to_string(dimensions) + " dimensions");
}

std::int64_t Call::integer(const char* key, std::int64_t otherwise) const {
  const auto found = params.find(key);
  if (found == params.end() || found->is_null()) return otherwise;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  throw ReferenceFault(std::string(key) + " must be an integer");
}

double Call::number(const char* key, double otherwise) const {
  const auto found = params.find(key);
  if (found == params.end() || found->is_null()) return otherwise;
  if (found->is_number()) return found->get<double>();
  throw ReferenceFault(std::string(key) + " must be a number");
}

bool Call::flag(const char* key, bool otherwise) const {
  const auto found = params.find(key);
  if (found == params.end() || found->is_null()) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  if (found->is_number_integer()) return found->get<std::int64_t>() != 0;
  throw ReferenceFault(std::string(key) + " must be true or false");
}

std::pair<std::int64_t, std::int64_t> Call::pair(const char* key, std::int64_t otherwise) const {
  const auto found = params.find(key);
  if (found == params.end() || found->is_null()) return {otherwise, otherwise};
  if (found->is_number_integer()) return {found->get<std::int64_t>(), found->get<std::int64_t>()};
  if (found->is_array() && found->size() == 2 && found->at(0).is_number_integer() &&
      found->at(1).is_number_integer()) {
    return {found->at(0).get<std::int64_t>(), found->at(1).get<std::int64_t>()};
  }
  throw ReferenceFault(std::string(key) + " must be an integer or two of them");
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result;
  const std::size_t rank = std::max(a.extents.size(), b.extents.size());
  result.extents.resize(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto of = [&](const Shape& shape) {
      const std::size_t missing = rank - shape.extents.size();
      return i < missing ? std::int64_t{1} : shape.extents[i - missing];
    };
    if (of(a) != of(b) && of(a) != 1 && of(b) != 1) {
      throw ReferenceFault("shapes " + a.text() + " and " + b.text() + " do not go together");
    }
    result.extents[i] = of(a) == 1 ? of(b) : of(a);
  }
  return result;
}

std::vector<std::uint64_t> broadcast_sources(const Shape& from, const Shape& to) {
  const std::size_t rank = to.extents.size();
  if (from.extents.size() > rank || broadcast(from, to) != to) {
    throw ReferenceFault("shape " + from.text() + " does not spread over " + to.text());
  }
  std::vector<std::uint64_t> steps(rank, 0);
  std::uint64_t step = 1;
  for (std::size_t i = from.extents.size(); i-- > 0;) {
    if (from.extents[i] != 1) steps[i + rank - from.extents.size()] = step;
    step *= static_cast<std::uint64_t>(from.extents[i]);
  }
  std::vector<std::uint64_t> sources(to.elements());
  std::vector<std::int64_t> index(rank, 0);
  std::uint64_t source = 0;
  for (auto& one : sources) {
    one = source;
    for (std::size_t i = rank; i-- > 0;) {
      source += steps[i];
      if (++index[i] < to.extents[i]) break;
      source -= steps[i] * static_cast<std::uint64_t>(to.extents[i]);
      index[i] = 0;
    }
  }
  return sources;
}

}  // namespace assay::optest
