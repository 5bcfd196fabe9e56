// Reading a tensor's init: each kind's own parameters, checked against the dtype they will fill.
#include <cmath>
#include <limits>
#include <utility>

#include "engine/contract/tensor_reading.h"

namespace assay::contract {
namespace {

std::string number_text(const Number& number) {
  if (const auto* d = std::get_if<double>(&number)) return shown(*d);
  if (const auto* u = std::get_if<std::uint64_t>(&number)) return std::to_string(*u);
  return std::to_string(std::get<std::int64_t>(number));
}

// low < high, exactly for any mix of integers; a double is compared as a double.
bool less(const Number& a, const Number& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b)) {
    return to_double(a) < to_double(b);
  }
  return std::visit(
      [](auto x, auto y) {
        if constexpr (std::is_integral_v<decltype(x)> && std::is_integral_v<decltype(y)>) {
          return std::cmp_less(x, y);
        } else {
          return false;
        }
      },
      a, b);
}

// What is wrong with a number that is to be stored in, or to bound, elements of the dtype; empty if
// nothing.
std::string misfit(const Number& number, DType dtype) {
  if (is_integer(dtype)) {
    if (fits_integer(number, dtype)) return "";
    return " must be an integer between " + std::to_string(lowest_integer(dtype)) + " and " +
           std::to_string(highest_integer(dtype)) + " for " + std::string(name(dtype)) + ", not " +
           number_text(number);
  }
  if (dtype == DType::boolean || fits_floating(to_double(number), component(dtype))) return "";
  return " is " + number_text(number) + ", beyond the largest " + std::string(name(dtype)) + ", " +
         shown(highest_finite(component(dtype)));
}

void check_uniform(const Node& node, const TensorInit& init, DType dtype, Notes& notes) {
  if (dtype == DType::boolean) return;
  const Number default_high = is_integer(dtype) ? std::int64_t{100} : std::int64_t{1};
  const Number low = init.low.value_or(std::int64_t{0});
  const Number high = init.high.value_or(default_high);
  bool sound = true;
  for (auto [key, given] : {std::pair{"low", &init.low}, std::pair{"high", &init.high}}) {
    if (!*given) continue;
    const std::string complaint = misfit(**given, dtype);
    if (complaint.empty()) continue;
    notes.violate(node.child_pointer(key), key + complaint);
    sound = false;
  }
  if (!sound || less(low, high)) return;
  notes.violate(node.pointer, "uniform requires low < high, but low is " + number_text(low) +
                                  (init.low ? "" : " by default") + " and high is " +
                                  number_text(high) + (init.high ? "" : " by default"));
}

std::optional<Number> read_fill_value(const Node& node, DType dtype, Notes& notes) {
  if (node.json->is_boolean()) return std::int64_t{node.json->get<bool>() ? 1 : 0};
  const auto special =
      node.json->is_string() ? parse_non_finite(node.json->get<std::string>()) : std::nullopt;
  if (special) {
    if (is_floating(dtype) || is_complex(dtype)) return *special;
    notes.violate(node.pointer, std::string(name(dtype)) + " has no " + brief(*node.json));
    return std::nullopt;
  }
  const auto number = read_number(node, "fill_value", notes);
  if (!number) return std::nullopt;
  const std::string complaint = misfit(*number, dtype);
  if (!complaint.empty()) notes.violate(node.pointer, "fill_value" + complaint);
  return number;
}

// The members that a kind uses; others that are given have no effect, which is worth saying.
bool uses(InitKind kind, std::string_view key) {
  switch (kind) {
    case InitKind::randn:
      return key == "seed" || key == "mean" || key == "std";
    case InitKind::uniform:
      return key == "seed" || key == "low" || key == "high";
    case InitKind::full:
      return key == "fill_value";
    case InitKind::arange:
      return key == "start" || key == "step";
    case InitKind::zeros:
    case InitKind::ones:
      return false;
  }
  return false;
}

std::optional<std::uint64_t> read_seed(const Node& node, Notes& notes) {
  if (node.json->is_number_unsigned()) return node.json->get<std::uint64_t>();
  if (const auto number = whole_number(*node.json)) return static_cast<std::uint64_t>(*number);
  notes.violate(node.pointer, "seed must be an integer of 64 bits, not " + brief(*node.json));
  return std::nullopt;
}

void read_parameters(const Node& node, DType dtype, TensorInit& init, Notes& notes) {
  if (const auto seed = node.member("seed")) init.seed = read_seed(*seed, notes);
  if (const auto fill = node.member("fill_value")) {
    init.fill_value = read_fill_value(*fill, dtype, notes);
  }
  for (auto [key, target] : {std::pair{"mean", &init.mean}, std::pair{"std", &init.std}}) {
    if (const auto member = node.member(key)) *target = read_finite(*member, key, notes);
  }
  for (auto [key, target] : {std::pair{"low", &init.low}, std::pair{"high", &init.high},
                             std::pair{"start", &init.start}, std::pair{"step", &init.step}}) {
    if (const auto member = node.member(key)) *target = read_number(*member, key, notes);
  }
}

}  // namespace

bool fits_floating(double value, DType dtype) {
  if (!std::isfinite(value) || dtype == DType::float64) return true;
  // Short decimal spellings of the largest float32 lie a little above it and round to it.
  return std::fabs(value) <= highest_finite(dtype) * (1 + 0x1p-25);
}

bool fits_integer(const Number& number, DType dtype) {
  const std::int64_t lowest = lowest_integer(dtype);
  const std::uint64_t highest = highest_integer(dtype);
  if (const auto* d = std::get_if<double>(&number)) {
    // 2^64 and 2^63 are doubles, the largest integers are not: compare against one beyond.
    const std::uint64_t half_beyond = highest / 2 + 1;
    const double beyond = 2.0 * static_cast<double>(half_beyond);
    return *d == std::trunc(*d) && *d >= static_cast<double>(lowest) && *d < beyond;
  }
  if (const auto* u = std::get_if<std::uint64_t>(&number)) return *u <= highest;
  const std::int64_t i = std::get<std::int64_t>(number);
  return i >= lowest && std::cmp_less_equal(i, highest);
}

std::optional<TensorInit> read_init(const Node& node, DType dtype, Notes& notes) {
  if (!expect_object(node, "init", notes)) return std::nullopt;
  warn_unknown_keys(
      node, {.here = {"kind", "seed", "mean", "std", "low", "high", "fill_value", "start", "step"}},
      notes);
  TensorInit init;
  if (const auto kind = node.member("kind")) {
    const auto text = read_string(*kind, "kind", notes);
    const auto known = text ? parse_init_kind(*text) : std::nullopt;
    if (text && !known) {
      notes.violate(kind->pointer, "Unsupported init kind: " + in_quotes(*text) +
                                       "; known are randn, zeros, ones, uniform, full, arange");
    }
    if (!known) return std::nullopt;
    init.kind = *known;
  }
  const std::size_t before = notes.violations.size();
  read_parameters(node, dtype, init, notes);
  for (const std::string_view key :
       {"seed", "mean", "std", "low", "high", "fill_value", "start", "step"}) {
    // A seed on a constant is common and harmless.
    if (key == "seed" || uses(init.kind, key)) continue;
    if (const auto member = node.member(key)) {
      notes.warn(member->pointer,
                 in_quotes(key) + " has no effect on kind " + in_quotes(name(init.kind)));
    }
  }
  if (notes.violations.size() != before) return std::nullopt;
  if (init.kind == InitKind::randn && init.std.value_or(1) < 0) {
    notes.violate(node.child_pointer("std"), "std must not be negative");
  }
  if (init.kind == InitKind::full && !init.fill_value) {
    notes.violate(node.pointer, "full init requires fill_value");
  }
  if (init.kind == InitKind::uniform) check_uniform(node, init, dtype, notes);
  if (init.kind == InitKind::arange && init.step && to_double(*init.step) == 0) {
    notes.violate(node.child_pointer("step"), "arange requires step != 0");
  }
  return init;
}

}  // namespace assay::contract
